//! A schema, compiled once and compared often.

use std::sync::OnceLock;

use serde_json::Value;

use crate::compile;
use crate::dialect::Dialect;
use crate::error::{SchemaError, SchemaErrorKind};
use crate::node::Graph;
use crate::validator::{Validator, Violation};

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
        if graph.relies_on_validator {
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

    /// Whether the validator accepts `instance`, with `format` asserted.
    pub fn accepts(&self, instance: &Value) -> bool {
        self.validator().is_some_and(|validator| validator.accepts(instance))
    }

    /// Every place where the schema rejects `instance`; empty when it accepts it.
    pub fn violations(&self, instance: &Value) -> Vec<Violation> {
        self.validator().map_or_else(Vec::new, |validator| validator.violations(instance))
    }

    /// Whether the validator has a word on instances at all: one pattern too large for it leaves it without.
    pub(crate) fn has_validator(&self) -> bool {
        self.validator().is_some()
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    fn validator(&self) -> Option<&Validator> {
        self.validator.get_or_init(|| Validator::build(&self.value, self.dialect).ok()).as_ref()
    }
}
