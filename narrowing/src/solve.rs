//! Is there a value that satisfies all of these and none of those?
//!
//! Containment is one such question: a value of the inner schema that is none of the outer. A *state* is a set of
//! literals, nodes that must or must not hold. A state is decided by collecting what its literals say about each type
//! ([`facts`]), branching where they leave a choice, and asking about the parts of arrays and objects as states of their
//! own. So "no" comes with the reason why each way is closed, and "yes" with a value.
//!
//! Recursion is coinduction: a state met again below itself has no value there, since a least value of the state cannot
//! hold another one. An answer that leans on that is kept only as long as what it leans on.
//!
//! INVARIANT: whatever cannot be modelled is left out of the constraints, never added to them. So `Empty` is always
//! true, while a value found is only a candidate until the validators confirm it.

mod arrays;
mod choices;
mod facts;
mod literal;
mod numbers;
mod objects;
mod size;
mod strings;

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

pub(crate) use self::facts::Facts;
pub(crate) use self::literal::Literal;
pub(crate) use self::size::{MAX_SIZE, TEXT_PER_VALUE, size};
use crate::budget::Budget;
use crate::evaluate;
use crate::node::{Graph, Kind, Node, Types};
use crate::verdict::Side;

/// Nested questions and open choices at one time; bounds the stack.
const MAX_FRAMES: u32 = 220;

/// Steps beside the budget for each node of the schemas.
const STEPS_PER_NODE: u32 = 8;

/// How much of a value is built or copied in one step.
const SIZE_PER_STEP: usize = 8;

/// Rules kept for a proof.
const MAX_RULES: usize = 256;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// No value.
    Empty,
    Found(Value),
    Doubt(Doubt),
}

/// What stands in the way of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) cause: Cause,
    pub(crate) literal: Option<Literal>,
    /// What stands on the other side of it.
    pub(crate) beside: Option<Literal>,
}

impl Doubt {
    pub(crate) fn new(cause: Cause, literal: Option<Literal>) -> Self {
        Self { cause, literal, beside: None }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The budget ran out.
    Steps,
    /// Too many levels at once.
    Depth,
    /// Too many automaton states.
    States,
    /// A keyword that is not modelled.
    Keyword,
    /// Strings that only the validator can tell apart.
    Strings,
    /// Numbers that could not be listed or written.
    Numbers,
    /// Arrays or objects that could not be listed.
    Counting,
    /// A value is at hand, and to check it takes too many steps.
    Effort,
}

impl Cause {
    /// Whether an assertion of this kind can be what defeats the proof.
    fn is_about(self, kind: &Kind) -> bool {
        match self {
            Self::Strings | Self::States => {
                matches!(kind, Kind::Pattern(_) | Kind::Format(_) | Kind::MinLength(_) | Kind::MaxLength(_))
            }
            Self::Numbers => matches!(kind, Kind::MultipleOf(_) | Kind::Bound { .. }),
            Self::Counting => matches!(
                kind,
                Kind::Contains { .. }
                    | Kind::Items { .. }
                    | Kind::MinItems(_)
                    | Kind::MaxItems(_)
                    | Kind::Unique
                    | Kind::Fields(_)
                    | Kind::MinFields(_)
                    | Kind::MaxFields(_)
                    | Kind::Names(_)
            ),
            Self::Keyword => matches!(kind, Kind::Opaque(_)),
            Self::Steps | Self::Depth | Self::Effort => {
                matches!(kind, Kind::Any(_) | Kind::One(_) | Kind::If { .. })
            }
        }
    }
}

#[derive(Debug)]
enum Memo {
    Open(u32),
    Empty,
    /// Empty as long as the state open at this depth is.
    Leaning(u32),
    Found(Rc<Value>),
    Doubt(Doubt),
}

#[derive(Debug)]
pub(crate) struct Solver<'a> {
    inner: &'a Graph,
    outer: Option<&'a Graph>,
    steps: u32,
    states: u32,
    tries: u32,
    frames: u32,
    depth: u32,
    /// The lowest open state that an answer under way leans on.
    leans_on: u32,
    memo: HashMap<Box<[Literal]>, Memo>,
    /// Empty states that lean on an open one.
    leaning: Vec<Box<[Literal]>>,
    rules: Vec<(Literal, &'static str)>,
    left_out: Option<Literal>,
}

impl<'a> Solver<'a> {
    pub(crate) fn new(inner: &'a Graph, outer: Option<&'a Graph>, budget: &Budget) -> Self {
        // Every node of a large schema must be looked at a few times; that is no sign of trouble.
        let n_nodes = inner.nodes.len() + outer.map_or(0, |outer| outer.nodes.len());
        let for_size = u32::try_from(n_nodes).unwrap_or(u32::MAX).saturating_mul(STEPS_PER_NODE);
        Self {
            inner,
            outer,
            steps: budget.steps.saturating_add(for_size),
            states: budget.states,
            tries: budget.tries,
            frames: 0,
            depth: 0,
            leans_on: u32::MAX,
            memo: HashMap::new(),
            leaning: Vec::new(),
            rules: Vec::new(),
            left_out: None,
        }
    }

    /// The rules that closed states so far, innermost first.
    pub(crate) fn rules(&self) -> &[(Literal, &'static str)] {
        &self.rules
    }

    /// An assertion that was left out of the constraints, if one was.
    pub(crate) fn left_out(&self) -> Option<Literal> {
        self.left_out
    }

    pub(crate) fn graph(&self, literal: Literal) -> &'a Graph {
        match literal.side() {
            Side::Inner => self.inner,
            Side::Outer => self.outer.unwrap_or(self.inner),
        }
    }

    pub(crate) fn node(&self, literal: Literal) -> Option<&'a Node> {
        self.graph(literal).node(literal.id())
    }

    pub(crate) fn kind(&self, literal: Literal) -> &'a Kind {
        self.graph(literal).kind(literal.id())
    }

    pub(super) fn tells_spellings_apart(&self) -> bool {
        self.inner.tells_spellings_apart || self.outer.is_some_and(|outer| outer.tells_spellings_apart)
    }

    /// Decides a state.
    pub(crate) fn decide(&mut self, mut state: Vec<Literal>) -> Answer {
        state.sort_unstable();
        state.dedup();
        if state.is_empty() {
            return Answer::Found(Value::Null);
        }
        if literal::contradict(&state) {
            return Answer::Empty;
        }
        let key: Box<[Literal]> = state.as_slice().into();
        match self.memo.get(&key) {
            Some(Memo::Open(depth) | Memo::Leaning(depth)) => {
                self.leans_on = self.leans_on.min(*depth);
                return Answer::Empty;
            }
            Some(Memo::Empty) => return Answer::Empty,
            Some(Memo::Found(value)) => {
                let value = Rc::clone(value);
                return match self.charge(size(&value)) {
                    Ok(()) => Answer::Found(Value::clone(&value)),
                    Err(doubt) => Answer::Doubt(doubt),
                };
            }
            Some(Memo::Doubt(doubt)) => return Answer::Doubt(*doubt),
            None => {}
        }
        if let Err(doubt) = self.enter() {
            return Answer::Doubt(doubt);
        }
        self.depth += 1;
        let depth = self.depth;
        let n_leaning = self.leaning.len();
        let leaned_on = std::mem::replace(&mut self.leans_on, u32::MAX);
        self.memo.insert(key.clone(), Memo::Open(depth));

        let answer = self.decide_afresh(&state, Vec::new());
        let answer = self.charged(answer);

        self.frames -= 1;
        self.depth -= 1;
        let stands_alone = self.leans_on >= depth;
        match &answer {
            Answer::Empty if stands_alone => {
                // What leaned on this state stands as well now.
                for leaning in self.leaning.drain(n_leaning.min(self.leaning.len())..) {
                    self.memo.insert(leaning, Memo::Empty);
                }
                self.memo.insert(key, Memo::Empty);
            }
            Answer::Empty => {
                // What leaned on this state leans on what it leans on now.
                self.leaning.push(key);
                for leaning in self.leaning.get(n_leaning..).into_iter().flatten() {
                    self.memo.insert(leaning.clone(), Memo::Leaning(self.leans_on));
                }
            }
            Answer::Found(value) => {
                self.forget_leaning(n_leaning);
                self.memo.insert(key, Memo::Found(Rc::new(value.clone())));
            }
            Answer::Doubt(doubt) => {
                self.forget_leaning(n_leaning);
                if stands_alone {
                    self.memo.insert(key, Memo::Doubt(*doubt));
                } else {
                    self.memo.remove(&key);
                }
            }
        }
        let below = if stands_alone { u32::MAX } else { self.leans_on };
        self.leans_on = leaned_on.min(below);
        answer
    }

    /// A value of the state other than those `taken`.
    pub(crate) fn decide_without(&mut self, state: &[Literal], taken: &[Value]) -> Answer {
        if taken.is_empty() {
            return self.decide(state.to_vec());
        }
        if let Err(doubt) = self.enter() {
            return Answer::Doubt(doubt);
        }
        let copied = taken.iter().fold(0_usize, |sum, value| sum.saturating_add(size(value)));
        let answer = match self.charge(copied) {
            Ok(()) => {
                let answer = self.decide_afresh(state, taken.to_vec());
                self.charged(answer)
            }
            Err(doubt) => Answer::Doubt(doubt),
        };
        self.frames -= 1;
        answer
    }

    fn decide_afresh(&mut self, state: &[Literal], taken: Vec<Value>) -> Answer {
        let mut facts = Facts { taken, ..Facts::default() };
        for literal in state {
            if self.assert(&mut facts, *literal).is_err() {
                self.closed(state, rule_name(&facts));
                return Answer::Empty;
            }
        }
        let (rule, asserted) = (rule_name(&facts), facts.asserted.clone());
        match self.branch(state, facts) {
            Answer::Doubt(doubt) => Answer::Doubt(self.located(doubt, state, &asserted)),
            Answer::Empty => {
                self.closed(state, rule);
                Answer::Empty
            }
            found @ Answer::Found(_) => found,
        }
    }

    /// The doubt with a place in both schemas, as far as the innermost state that met it knows one.
    pub(crate) fn located(&self, mut doubt: Doubt, state: &[Literal], asserted: &[Literal]) -> Doubt {
        let on = |side: Side| {
            let telling = |literal: &&Literal| {
                self.node(**literal).is_some_and(|node| doubt.cause.is_about(&node.kind))
            };
            let asserted = asserted.iter().filter(|literal| literal.side() == side).find(telling);
            asserted.or_else(|| state.iter().find(|literal| literal.side() == side)).copied()
        };
        // It is the inner schema that asks for items and properties, mostly.
        let sides = if doubt.cause == Cause::Counting {
            [Side::Inner, Side::Outer]
        } else {
            [Side::Outer, Side::Inner]
        };
        let culprit = || {
            let is_for_validator = |literal: &&Literal| self.kind(**literal).is_for_validator();
            asserted.iter().find(is_for_validator).filter(|_| doubt.cause == Cause::Strings).copied()
        };
        let literal = doubt.literal.or_else(culprit).or_else(|| sides.into_iter().find_map(on));
        let beside = doubt.beside.or_else(|| {
            on(if literal.is_some_and(|literal| literal.side() == Side::Inner) {
                Side::Outer
            } else {
                Side::Inner
            })
        });
        doubt.literal = literal;
        doubt.beside = beside;
        doubt
    }

    fn forget_leaning(&mut self, from: usize) {
        for key in self.leaning.drain(from.min(self.leaning.len())..) {
            self.memo.remove(&key);
        }
    }

    /// One more frame; pair with `self.frames -= 1`.
    pub(crate) fn enter(&mut self) -> Result<(), Doubt> {
        self.step()?;
        if self.frames >= MAX_FRAMES {
            return Err(Doubt::new(Cause::Depth, None));
        }
        self.frames += 1;
        Ok(())
    }

    pub(crate) fn step(&mut self) -> Result<(), Doubt> {
        self.spend(0)
    }

    /// One step, and more where the work grows with `n`.
    pub(crate) fn spend(&mut self, n: usize) -> Result<(), Doubt> {
        self.pay(u32::try_from(n / 16).unwrap_or(u32::MAX).saturating_add(1))
    }

    /// Steps for a value of this [`size`] that is built or copied; small ones are part of another step.
    pub(crate) fn charge(&mut self, size: usize) -> Result<(), Doubt> {
        self.pay(u32::try_from(size / SIZE_PER_STEP).unwrap_or(u32::MAX))
    }

    /// The answer, unless a value found is more than the budget has left.
    fn charged(&mut self, answer: Answer) -> Answer {
        let Answer::Found(value) = &answer else { return answer };
        self.charge(size(value)).err().map_or(answer, Answer::Doubt)
    }

    fn pay(&mut self, steps: u32) -> Result<(), Doubt> {
        if let Some(left) = self.steps.checked_sub(steps) {
            self.steps = left;
            Ok(())
        } else {
            self.steps = 0;
            Err(Doubt::new(Cause::Steps, None))
        }
    }

    /// Whether `value` satisfies a literal; `None` when only the validator could tell.
    pub(crate) fn holds(&self, literal: Literal, value: &Value) -> Option<bool> {
        let holds = evaluate::satisfies(self.graph(literal), literal.id(), value)?;
        Some(holds != literal.is_negated())
    }

    /// Tries the values a state lists.
    fn try_members(&mut self, state: &[Literal], facts: &Facts<'a>) -> Answer {
        let mut doubt = None;
        for member in facts.members.iter().flatten() {
            if let Err(out_of_steps) = self.step() {
                return Answer::Doubt(out_of_steps);
            }
            if let Err(out_of_steps) = self.charge(size(member)) {
                return Answer::Doubt(out_of_steps);
            }
            let Some(spellings) = self.spellings(member) else {
                doubt = doubt.or(Some(Doubt::new(Cause::Steps, state.first().copied())));
                continue;
            };
            for value in spellings {
                if facts.taken.contains(&value) || facts.taken.contains(member) {
                    continue;
                }
                // Facts about a name under construction are no literals of the state.
                if !facts.types.intersects(Types::of(&value)) {
                    continue;
                }
                if value.as_str().is_some_and(|text| !self.string_fits(facts, text)) {
                    continue;
                }
                let unsure = |literal: &&Literal| self.holds(**literal, &value).is_none();
                if state.iter().any(|literal| self.holds(*literal, &value) == Some(false)) {
                    continue;
                }
                match state.iter().find(unsure) {
                    None => return Answer::Found(value),
                    Some(literal) => {
                        let cause = if evaluate::is_spent() { Cause::Effort } else { Cause::Keyword };
                        doubt = doubt.or(Some(Doubt::new(cause, Some(*literal))));
                    }
                }
            }
        }
        doubt.map_or(Answer::Empty, Answer::Doubt)
    }

    /// The ways to write a value, where a schema tells `1` from `1.0`; `None` when there are too many to try.
    fn spellings(&self, value: &Value) -> Option<Vec<Value>> {
        if self.tells_spellings_apart() { numbers::spellings(value) } else { Some(vec![value.clone()]) }
    }

    fn closed(&mut self, state: &[Literal], rule: &'static str) {
        let blamed = state.iter().find(|literal| literal.is_negated()).or(state.first());
        if let Some(literal) = blamed
            && self.rules.len() < MAX_RULES
        {
            self.rules.push((*literal, rule));
        }
    }
}

fn rule_name(facts: &Facts<'_>) -> &'static str {
    let within = |types: Types| !facts.types.intersects(types.complement());
    if facts.members.is_some() {
        "listed values"
    } else if facts.types.is_none() {
        "types"
    } else if within(Types::STRING) {
        "string language"
    } else if within(Types::NUMBER) {
        "number range"
    } else if within(Types::ARRAY) {
        "array rules"
    } else if within(Types::OBJECT) {
        "object rules"
    } else if within(Types::NULL.union(Types::BOOLEAN)) {
        "types"
    } else {
        "case split"
    }
}
