//! Rules as Cedar policies.
//!
//! A condition is lowered in two senses, *certainly true* and *certainly false*; each is total. A rule that restricts
//! forbids unless its condition is certainly false, an allow-list unless it is certainly true.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use bailiwick_bundles::Digest;
use bailiwick_bundles::documents::phrony::{Field, FieldPath, MAX_TERMS, Step};
use cedar_policy::pst::{
    ActionConstraint, BinaryOp, Clause, Effect as CedarEffect, EntityOrSlot, EntityType, EntityUID, Expr,
    Literal, Name, NonEmpty, PatternElem, PolicyID, PrincipalConstraint, ResourceConstraint, Template,
    UnaryOp, Var,
};
use serde_json::{Number, Value};

use super::context::{Decimal, decimal};
use super::shape::{Attribute, Shape, Slot, declared};
use super::{ACTIONS, Effect, Rule};
use crate::comparison::{Leaf, Side, Test};
use crate::kind::Kind;
use crate::phase::Phase;
use crate::prepared::Tree;

pub(super) fn uid(kind: &str, id: &str) -> Result<EntityUID, String> {
    // Making a name parses it, which takes longer than all else here.
    static TYPES: OnceLock<BTreeMap<&str, EntityType>> = OnceLock::new();
    let types = TYPES.get_or_init(|| {
        let made = ["Action", "Agent", "Tool"]
            .map(|name| Some((name, EntityType::from_name(Name::unqualified(name).ok()?))));
        made.into_iter().flatten().collect()
    });
    let ty = types.get(kind).cloned().ok_or_else(|| format!("`{kind}` is no entity type"))?;
    Ok(EntityUID { ty, eid: id.into() })
}

/// What permits the calls of a binding.
pub(super) fn grant(principal: &EntityUID, resource: &EntityUID, tool: &str) -> Result<Template, String> {
    let id = format!("grant#{tool}");
    let template = Template::new(
        PolicyID(id.as_str().into()),
        CedarEffect::Permit,
        PrincipalConstraint::Eq(EntityOrSlot::Entity(principal.clone())),
        ActionConstraint::In(actions(ACTIONS.len())?),
        ResourceConstraint::Eq(EntityOrSlot::Entity(resource.clone())),
    );
    Ok(template.with_annotations([("id".to_owned(), id.as_str().into())].into()))
}

/// Lowers the rules of one binding.
pub(super) struct Lowering<'l> {
    pub(super) principal: &'l EntityUID,
    pub(super) resource: &'l EntityUID,
    /// The effective input schema.
    pub(super) input: &'l Value,
    /// What a request must carry, gathered on the way.
    pub(super) shape: &'l mut Shape,
    /// The facts of the rule at hand, by name, as JSON.
    pub(super) facts: BTreeMap<String, String>,
}

impl Lowering<'_> {
    /// What a rule forbids; `None` where that is nothing.
    pub(super) fn forbid(&mut self, rule: &Rule<'_>) -> Result<Option<Template>, String> {
        let (n_actions, lifted_by) = match rule.effect {
            Effect::None => return Ok(None),
            Effect::Approval => (1, false),
            Effect::Escalation => (2, false),
            Effect::Denial => (3, false),
            Effect::AllowList => (3, true),
        };
        let mut template = Template::new(
            PolicyID(rule.id.as_str().into()),
            CedarEffect::Forbid,
            PrincipalConstraint::Eq(EntityOrSlot::Entity(self.principal.clone())),
            ActionConstraint::In(actions(n_actions)?),
            ResourceConstraint::Eq(EntityOrSlot::Entity(self.resource.clone())),
        );
        self.facts.clear();
        if let Some(condition) = rule.condition {
            let lifting = self.certainly(condition.tree(), lifted_by)?;
            template =
                template.try_with_clauses([Clause::Unless(lifting)]).map_err(|error| error.to_string())?;
        }
        let said = rule.annotations.iter().map(|(key, text)| ((*key).to_owned(), text.clone()));
        let facts = self.facts.iter().map(|(name, comparison)| (name.clone(), comparison.clone()));
        let id = ("id".to_owned(), rule.id.clone());
        let annotations = said.chain(facts).chain([id]).map(|(key, text)| (key, text.into()));
        Ok(Some(template.with_annotations(annotations.collect())))
    }

    fn certainly(&mut self, tree: &Tree, truth: bool) -> Result<Arc<Expr>, String> {
        let (inner, op) = match (tree, truth) {
            (Tree::Not(inner), truth) => return self.certainly(inner, !truth),
            (Tree::Leaf(leaf), truth) => return self.compare(leaf, truth),
            (Tree::All(inner), true) | (Tree::Any(inner), false) => (inner, BinaryOp::And),
            (Tree::All(inner), false) | (Tree::Any(inner), true) => (inner, BinaryOp::Or),
        };
        let parts: Result<Vec<_>, String> = inner.iter().map(|inner| self.certainly(inner, truth)).collect();
        balanced(op, &parts?).ok_or_else(|| "a list of conditions is empty".to_owned())
    }

    /// One comparison: certainly true, or certainly false.
    fn compare(&mut self, leaf: &Leaf, truth: bool) -> Result<Arc<Expr>, String> {
        match &leaf.field {
            Field::Dispatch => Ok(dispatch(leaf, truth)),
            Field::Argument(path) => match native(leaf, path, truth, self.input) {
                Some(native) => self.place(&native, path),
                None => self.fact(leaf, truth),
            },
        }
    }

    /// A comparison that the host makes.
    fn fact(&mut self, leaf: &Leaf, truth: bool) -> Result<Arc<Expr>, String> {
        let mut written = serde_json::to_value(&leaf.written).map_err(|error| error.to_string())?;
        written.sort_all_objects();
        let written = written.to_string();
        let digest = Digest::of(written.as_bytes()).to_string();
        let digits: String = digest.trim_start_matches("sha256:").chars().take(16).collect();
        let name = format!("f{digits}");
        let known = self.shape.facts.entry(name.clone()).or_insert_with(|| leaf.clone());
        if known.written != leaf.written {
            return Err(format!("`{name}` would be two facts"));
        }
        self.facts.insert(name.clone(), written);
        let facts = attribute(variable(), "facts");
        let holds = attribute(Arc::clone(&facts), &name);
        Ok(binary(BinaryOp::And, has(facts, &name), signed(truth, holds)))
    }

    /// Brings a native comparison to its attribute, guarded where that may be absent.
    fn place(&mut self, native: &Native, path: &FieldPath) -> Result<Arc<Expr>, String> {
        let found = declared(self.input, path).filter(|found| native.slot.is_of(*found));
        let is_required = native.slot == Slot::Exists || found.is_some_and(|found| found.is_required);
        // The plain name is that of the declared type.
        let name = if found.is_some() { path.to_string() } else { format!("{path}#{}", native.slot.name()) };
        let entry = Attribute { path: path.clone(), slot: native.slot, is_required };
        let known = self.shape.arguments.entry(name.clone()).or_insert_with(|| entry.clone());
        if *known != entry {
            return Err(format!("`{name}` would be two attributes"));
        }
        let arguments = attribute(variable(), "arguments");
        let holds = (native.holds)(attribute(Arc::clone(&arguments), &name));
        Ok(if is_required { holds } else { binary(BinaryOp::And, has(arguments, &name), holds) })
    }
}

fn actions(n: usize) -> Result<Vec<EntityUID>, String> {
    ACTIONS.iter().take(n).map(|name| uid("Action", name)).collect()
}

/// Joins `parts` as a tree of the least depth, so that a long list needs no deep stack.
fn balanced(op: BinaryOp, parts: &[Arc<Expr>]) -> Option<Arc<Expr>> {
    match parts {
        [] => None,
        [only] => Some(Arc::clone(only)),
        parts => {
            let (left, right) = parts.split_at_checked(parts.len() / 2)?;
            Some(binary(op, balanced(op, left)?, balanced(op, right)?))
        }
    }
}

/// A comparison that Cedar makes itself, in one of the two senses.
struct Native {
    slot: Slot,
    holds: Box<dyn Fn(Arc<Expr>) -> Arc<Expr>>,
}

impl Native {
    fn new(slot: Slot, holds: impl Fn(Arc<Expr>) -> Arc<Expr> + 'static) -> Self {
        Self { slot, holds: Box::new(holds) }
    }
}

/// The comparison in Cedar's own terms, where it has them: that it is certainly true, or certainly false.
fn native(leaf: &Leaf, path: &FieldPath, truth: bool, input: &Value) -> Option<Native> {
    // Cedar's validator warns of texts that may look like others, which any beyond ASCII may.
    let is_plain = |text: &str| text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    let are_plain = |step: &Step| matches!(step, Step::Name(name) if is_plain(name) && !name.contains('#'));
    if !path.steps().iter().all(are_plain) || !leaf.test.texts().all(is_plain) {
        return None;
    }
    // Each value is a term of its own to Cedar.
    if matches!(&leaf.test, Test::OneOf { values, .. } if values.len() > MAX_TERMS) {
        return None;
    }
    let found = declared(input, path);
    let is_integer = found.is_some_and(|found| found.is_integer);
    match &leaf.test {
        Test::Exists(wanted) => {
            let wanted = *wanted == truth;
            Some(Native::new(Slot::Exists, move |exists| signed(wanted, exists)))
        }
        Test::OneOf { values, negated } => one_of(values, *negated != truth, is_integer),
        Test::Bound { side, bound } => {
            let side = if truth { *side } else { side.opposite() };
            if is_integer && let Some(bound) = bound.as_i64() {
                return Some(Native::new(Slot::Long, move |value| beside(side, value, bound)));
            }
            let bound = on_grid(bound)?;
            let end = match side {
                Side::Above | Side::AtMost => "ceil",
                Side::AtLeast | Side::Below => "floor",
            };
            Some(Native::new(Slot::Decimal, move |value| beside(side, attribute(value, end), bound)))
        }
        Test::StartsWith(text) => Some(like(truth, text, false, true)),
        Test::EndsWith(text) => Some(like(truth, text, true, false)),
        // A list may contain it as well, unless the schema says that there is a string.
        Test::Contains(Value::String(text)) if found.is_some_and(|found| found.kind == Kind::String) => {
            Some(like(truth, text, true, true))
        }
        Test::Contains(_) | Test::Matches(_) => None,
    }
}

fn like(truth: bool, text: &str, before: bool, after: bool) -> Native {
    let wildcard = |there: bool| there.then_some(PatternElem::Wildcard);
    let characters = text.chars().map(PatternElem::Char);
    let pattern: Vec<PatternElem> =
        wildcard(before).into_iter().chain(characters).chain(wildcard(after)).collect();
    Native::new(Slot::String, move |expr| {
        signed(truth, Arc::new(Expr::Like { expr, pattern: pattern.clone() }))
    })
}

/// Equality with values that are all strings, all booleans, or all numbers on the grid; `wanted`, or its opposite.
fn one_of(values: &[Value], wanted: bool, is_integer: bool) -> Option<Native> {
    let set = |slot, literals: Vec<Literal>| {
        let members: Vec<Arc<Expr>> =
            literals.into_iter().map(|literal| Arc::new(Expr::Literal(literal))).collect();
        Native::new(slot, move |value| match (members.as_slice(), wanted) {
            ([only], true) => binary(BinaryOp::Eq, value, Arc::clone(only)),
            ([only], false) => binary(BinaryOp::NotEq, value, Arc::clone(only)),
            (members, wanted) => {
                signed(wanted, binary(BinaryOp::Contains, Arc::new(Expr::Set(members.to_vec())), value))
            }
        })
    };
    if let Some(strings) = each(values, Value::as_str) {
        return Some(set(
            Slot::String,
            strings.into_iter().map(|text| Literal::String(text.into())).collect(),
        ));
    }
    if let Some(booleans) = each(values, Value::as_bool) {
        return Some(set(Slot::Boolean, booleans.into_iter().map(Literal::Bool).collect()));
    }
    let numbers = each(values, Value::as_number)?;
    if is_integer && let Some(integers) = each(&numbers, |number| number.as_i64()) {
        return Some(set(Slot::Long, integers.into_iter().map(Literal::Long).collect()));
    }
    let bounds = each(&numbers, |number| on_grid(number))?;
    Some(Native::new(Slot::Decimal, move |value| {
        let is = |bound: &i64| {
            let end = |end| binary(BinaryOp::Eq, attribute(Arc::clone(&value), end), long(*bound));
            binary(BinaryOp::And, end("floor"), end("ceil"))
        };
        let parts: Vec<Arc<Expr>> = bounds.iter().map(is).collect();
        signed(wanted, balanced(BinaryOp::Or, &parts).unwrap_or_else(never))
    }))
}

fn each<'v, T, U>(values: &'v [T], take: impl Fn(&'v T) -> Option<U>) -> Option<Vec<U>> {
    values.iter().map(take).collect()
}

/// A number in ten-thousandths, where it is a whole number of them and further from the ends than any value goes.
fn on_grid(number: &Number) -> Option<i64> {
    let Decimal { floor, ceil } = decimal(number);
    (floor == ceil && floor > i64::MIN && floor < i64::MAX).then_some(floor)
}

/// `value` on one side of `bound`. Cedar has only the less of the two, so the greater are turned around.
fn beside(side: Side, value: Arc<Expr>, bound: i64) -> Arc<Expr> {
    match side {
        Side::Above => binary(BinaryOp::Less, long(bound), value),
        Side::AtLeast => binary(BinaryOp::LessEq, long(bound), value),
        Side::Below => binary(BinaryOp::Less, value, long(bound)),
        Side::AtMost => binary(BinaryOp::LessEq, value, long(bound)),
    }
}

/// A comparison of the phase, which is always there.
fn dispatch(leaf: &Leaf, truth: bool) -> Arc<Expr> {
    let is = |word: &str| {
        let word = Arc::new(Expr::Literal(Literal::String(word.into())));
        binary(BinaryOp::Eq, attribute(variable(), "phase"), word)
    };
    match &leaf.test {
        Test::Exists(wanted) => signed(*wanted != truth, is(Phase::CALL.as_str())),
        Test::OneOf { values, negated } => {
            let words = values.iter().filter_map(Value::as_str).filter(|word| *word != Phase::CALL.as_str());
            let parts: Vec<Arc<Expr>> = words.map(is).collect();
            signed(*negated != truth, balanced(BinaryOp::Or, &parts).unwrap_or_else(never))
        }
        // INVARIANT of `Leaf`: a dispatch field has no other test, and what is neither true nor false lifts nothing.
        Test::Bound { .. }
        | Test::Matches(_)
        | Test::Contains(_)
        | Test::StartsWith(_)
        | Test::EndsWith(_) => never(),
    }
}

fn never() -> Arc<Expr> {
    Arc::new(Expr::Literal(Literal::Bool(false)))
}

fn signed(wanted: bool, expr: Arc<Expr>) -> Arc<Expr> {
    if wanted { expr } else { Arc::new(Expr::UnaryOp { op: UnaryOp::Not, expr }) }
}

fn variable() -> Arc<Expr> {
    Arc::new(Expr::Var(Var::Context))
}

fn attribute(expr: Arc<Expr>, name: &str) -> Arc<Expr> {
    Arc::new(Expr::GetAttr { expr, attr: name.into() })
}

fn has(expr: Arc<Expr>, name: &str) -> Arc<Expr> {
    Arc::new(Expr::HasAttr { expr, attrs: NonEmpty::new(name.into()) })
}

fn long(value: i64) -> Arc<Expr> {
    Arc::new(Expr::Literal(Literal::Long(value)))
}

fn binary(op: BinaryOp, left: Arc<Expr>, right: Arc<Expr>) -> Arc<Expr> {
    Arc::new(Expr::BinaryOp { op, left, right })
}
