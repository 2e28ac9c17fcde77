//! A schema, compiled once and compared often.

use std::sync::OnceLock;

use serde_json::Value;

use crate::compile;
use crate::dialect::Dialect;
use crate::effort::is_bearable;
use crate::error::{SchemaError, SchemaErrorKind};
use crate::language::Pattern;
use crate::node::{Graph, Kind};
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
            // What only the validator can check must not pass unchecked.
            if graph.relies_on_validator {
                return Err(too_heavy(&graph));
            }
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
    /// comparisons count its steps before they ask it. `false` where the patterns of the schema are too large for a validator.
    pub fn accepts(&self, instance: &Value) -> bool {
        self.validator().is_some_and(|validator| validator.accepts(instance))
    }

    /// Every place where the schema rejects `instance`; empty exactly when [`accepts`](Self::accepts) is `true`. Where the
    /// patterns of the schema are too large for a validator, one violation of the whole schema says so.
    pub fn violations(&self, instance: &Value) -> Vec<Violation> {
        self.validator().map_or_else(|| vec![unchecked()], |validator| validator.violations(instance))
    }

    /// What the validator says of an instance that was found; `None` where it is not to be asked: a pattern is too large
    /// for it, or it would take too many steps.
    pub(crate) fn opinion(&self, instance: &Value) -> Option<bool> {
        if !is_bearable(&self.graph, instance) {
            return None;
        }
        // Decided by the schema alone, so that what was asked before makes no difference.
        let is_costly_to_build = self.graph.nodes.len() > LARGE && !self.graph.relies_on_validator;
        if is_costly_to_build && self.graph.pattern_weight == 0 {
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

/// The fault of a schema whose patterns are too large for the validator it relies on, at the heaviest of them.
fn too_heavy(graph: &Graph) -> SchemaError {
    let mut heaviest: Option<(u64, String, &Pattern)> = None;
    let mut weigh = |pattern, pointer: &dyn Fn() -> String| {
        let weight = Pattern::weight(pattern);
        if heaviest.as_ref().is_some_and(|(most, ..)| *most > weight) {
            return;
        }
        // Of several as heavy the first by pointer: the order of keys must not matter.
        let pointer = pointer();
        if heaviest.as_ref().is_none_or(|(most, known, _)| *most < weight || pointer < *known) {
            heaviest = Some((weight, pointer, pattern));
        }
    };
    for node in &graph.nodes {
        if let Kind::Pattern(pattern) = &node.kind {
            weigh(pattern, &|| graph.pointer_to_place(node.place) + "/pattern");
        } else if let Kind::Fields(fields) = &node.kind {
            for (pattern, _) in &fields.patterns {
                weigh(pattern, &|| graph.pointer_to_place(node.place) + "/patternProperties");
            }
        }
    }
    let (pointer, source) = heaviest.map_or_else(Default::default, |(_, at, pattern)| (at, pattern.source()));
    let message = format!("`{source}` is too large to be compared: shorten counted repetitions");
    SchemaError::new(SchemaErrorKind::TooLarge, pointer, message)
}

fn unchecked() -> Violation {
    Violation {
        instance_path: String::new(),
        schema_path: String::new(),
        message: "the patterns of the schema are too large for a validator, so nothing is accepted: shorten counted repetitions"
            .to_owned(),
    }
}
