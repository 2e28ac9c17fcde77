//! A condition, prepared for evaluation: every comparison in it checked once.
//!
//! The tree is bounded in depth and length, so that whatever walks it needs a bounded stack.

use std::sync::{Arc, OnceLock};

use bailiwick_bundles::documents::phrony::{MAX_CONDITION_DEPTH, MAX_TERMS};
use bailiwick_narrowing::Schema;
use serde_json::Value;

use crate::comparison::{ConditionError, Leaf};
use crate::phase::Phase;
use crate::schema::{certainly_false, certainly_true, or_no_call};
use crate::{Condition, Truth};

/// A condition that can be evaluated.
#[derive(Clone, Debug)]
pub struct PreparedCondition {
    tree: Tree,
    /// As schemas of calls before dispatch, false and true; made when first asked for.
    schemas: [OnceLock<Option<Arc<Schema>>>; 2],
}

#[derive(Clone, Debug)]
pub(crate) enum Tree {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Leaf(Box<Leaf>),
}

/// A comparison that decided a condition.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// Which comparison of the condition, in the order written.
    pub at: usize,
    /// The comparison, in words.
    pub text: String,
    /// The field it looks at.
    pub field: String,
    /// The value there; absent where there is none.
    pub value: Option<Value>,
    /// Whether it holds.
    pub truth: Truth,
}

impl PreparedCondition {
    /// Prepares a condition.
    ///
    /// # Errors
    /// One that is too deep or too long, or a comparison that has no meaning.
    pub fn new(condition: &Condition) -> Result<Self, ConditionError> {
        let mut n_terms = 0;
        let tree = prepare(condition, MAX_CONDITION_DEPTH, &mut n_terms)?;
        Ok(Self { tree, schemas: [OnceLock::new(), OnceLock::new()] })
    }

    /// The field of the comparison at a place in the order written.
    pub fn field(&self, at: usize) -> Option<&str> {
        self.tree.leaves().get(at).map(|leaf| leaf.written.field.as_str())
    }

    /// Whether it holds for a call.
    pub fn truth(&self, arguments: &Value, phase: Phase) -> Truth {
        self.tree.truth(arguments, phase)
    }

    /// The comparisons that make it what it is for a call, in the order written.
    pub fn deciding(&self, arguments: &Value, phase: Phase) -> Vec<Clause> {
        let mut clauses = Vec::new();
        self.tree.deciding(arguments, phase, &mut 0, true, &mut clauses);
        clauses
    }

    /// The calls for which it is true at `phase`, or false, and what is no call; `None` where the engine cannot compile that.
    pub(crate) fn schema(&self, phase: Phase, truth: bool) -> Option<Arc<Schema>> {
        let compile = || {
            let value = if truth { certainly_true(self, phase) } else { certainly_false(self, phase) };
            Schema::compile(&or_no_call(&value)).ok().map(Arc::new)
        };
        let [when_false, when_true] = &self.schemas;
        if phase.is_call() {
            return (if truth { when_true } else { when_false }).get_or_init(compile).clone();
        }
        compile()
    }

    pub(crate) fn tree(&self) -> &Tree {
        &self.tree
    }
}

fn prepare(condition: &Condition, depth: usize, n_terms: &mut usize) -> Result<Tree, ConditionError> {
    let depth = depth.checked_sub(1).ok_or(ConditionError::TooDeep)?;
    let mut list = |conditions: &[Condition]| {
        if conditions.is_empty() {
            return Err(ConditionError::Empty);
        }
        conditions.iter().map(|inner| prepare(inner, depth, n_terms)).collect()
    };
    Ok(match condition {
        Condition::All { all } => Tree::All(list(all)?),
        Condition::Any { any } => Tree::Any(list(any)?),
        Condition::Not { not } => Tree::Not(Box::new(prepare(not, depth, n_terms)?)),
        Condition::Leaf(comparison) => {
            *n_terms += 1;
            if *n_terms > MAX_TERMS {
                return Err(ConditionError::TooManyTerms);
            }
            Tree::Leaf(Box::new(Leaf::new(comparison)?))
        }
    })
}

impl Tree {
    fn truth(&self, arguments: &Value, phase: Phase) -> Truth {
        match self {
            Self::All(inner) => {
                inner.iter().fold(Truth::True, |truth, inner| truth.and(inner.truth(arguments, phase)))
            }
            Self::Any(inner) => {
                inner.iter().fold(Truth::False, |truth, inner| truth.or(inner.truth(arguments, phase)))
            }
            Self::Not(inner) => !inner.truth(arguments, phase),
            Self::Leaf(leaf) => leaf.truth(arguments, phase),
        }
    }

    /// Walks all comparisons, counting them in `at`, and keeps those that decide where this condition does.
    fn deciding(
        &self,
        arguments: &Value,
        phase: Phase,
        at: &mut usize,
        decides: bool,
        clauses: &mut Vec<Clause>,
    ) {
        match self {
            Self::All(inner) | Self::Any(inner) => {
                let truth = self.truth(arguments, phase);
                // `all` is true by all of its conditions, and false by one; `any` the other way round.
                let by_all = match self {
                    Self::All(_) => truth == Truth::True,
                    Self::Any(_) | Self::Not(_) | Self::Leaf(_) => truth == Truth::False,
                };
                let mut is_open = decides;
                for inner in inner {
                    let settles = is_open && inner.truth(arguments, phase) == truth;
                    inner.deciding(arguments, phase, at, settles, clauses);
                    is_open &= by_all || !settles;
                }
            }
            Self::Not(inner) => inner.deciding(arguments, phase, at, decides, clauses),
            Self::Leaf(leaf) => {
                if decides {
                    clauses.push(Clause {
                        at: *at,
                        text: leaf.written.to_string(),
                        field: leaf.written.field.clone(),
                        value: leaf.deciding(arguments, phase),
                        truth: leaf.truth(arguments, phase),
                    });
                }
                *at += 1;
            }
        }
    }

    /// Every comparison, in the order written.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        let mut leaves = Vec::new();
        let mut pending = vec![self];
        while let Some(tree) = pending.pop() {
            match tree {
                Self::All(inner) | Self::Any(inner) => pending.extend(inner.iter().rev()),
                Self::Not(inner) => pending.push(inner),
                Self::Leaf(leaf) => leaves.push(leaf.as_ref()),
            }
        }
        leaves
    }
}
