//! A schema, compiled once and compared often.

use std::sync::OnceLock;

use serde_json::Value;

use crate::compile;
use crate::dialect::Dialect;
use crate::effort::is_bearable;
use crate::error::{SchemaError, SchemaErrorKind};
use crate::node::Graph;
use crate::rewrite::without_absent;
use crate::validator::{MAX_PATTERN_WEIGHT, Validator, Violation};

/// Nodes beyond which a validator is not built for one instance: building one takes longer than everything else.
const LARGE: usize = 10_000;

/// A compiled JSON Schema: cheap to compare many times, shareable between threads.
#[derive(Debug)]
pub struct Schema {
    value: Value,
    dialect: Dialect,
    graph: Graph,
    validator: OnceLock<Option<Validator>>,
}

impl Schema {
    /// Compiles a schema. `$schema` decides the draft (04, 06, 07, 2019-09, 2020-12; 2020-12 when absent).
    pub fn compile(value: &Value) -> Result<Self, SchemaError> {
        let dialect = Dialect::of(value)?;
        let graph = compile::compile(value, dialect)?;
        let validator = OnceLock::new();
        if graph.pattern_weight > MAX_PATTERN_WEIGHT {
            validator.set(None).ok();
        } else if graph.relies_on_validator {
            let built = Validator::build(value, dialect)
                .map_err(|message| SchemaError::new(SchemaErrorKind::Invalid, "", message))?;
            validator.set(Some(built)).ok();
        }
        Ok(Self { value: value.clone(), dialect, graph, validator })
    }

    /// The schema as written.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Whether the validator accepts `instance`, with `format` asserted. It may take long where references fan out: only
    /// comparisons count its steps before they ask it.
    pub fn accepts(&self, instance: &Value) -> bool {
        self.validator().is_some_and(|validator| validator.accepts(instance))
    }

    /// Every place where the schema rejects `instance`; empty when it accepts it.
    pub fn violations(&self, instance: &Value) -> Vec<Violation> {
        self.validator().map_or_else(Vec::new, |validator| validator.violations(instance))
    }

    /// What the validator says of an instance that was found; `None` where it is not to be asked: a pattern is too large
    /// for it, or it would take too many steps.
    pub(crate) fn opinion(&self, instance: &Value) -> Option<bool> {
        if !is_bearable(&self.graph, instance) {
            return None;
        }
        if self.validator.get().is_none() && self.graph.nodes.len() > LARGE && self.graph.pattern_weight == 0
        {
            let named = without_absent(&self.value, instance);
            if let Some(validator) = named.and_then(|named| Validator::build(&named, self.dialect).ok()) {
                return Some(validator.accepts(instance));
            }
        }
        self.validator().map(|validator| validator.accepts(instance))
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| Validator::build(&self.value, self.dialect).ok()).as_ref()
    }
}
