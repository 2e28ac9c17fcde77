//! From JSON to a [`Graph`], and every fault a schema can have.
//!
//! Stages: [`measure`] bounds the work, [`registry`] files identifiers and anchors, this module reads keywords as the
//! draft defines them, [`unevaluated`] spells out what depends on neighbours, [`shape`] finds endless references and
//! sums up each node. After that no stage can fail.

mod keywords;
mod measure;
mod registry;
mod shape;
mod unevaluated;
mod values;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

pub(crate) use self::measure::is_within_limits;
use self::registry::{Registry, Target};
pub(crate) use self::shape::children;
use crate::dialect::Dialect;
use crate::error::{SchemaError, SchemaErrorKind};
use crate::node::{Graph, Id, Kind, Node, Place, Types};

pub(crate) fn compile(value: &Value, dialect: Dialect) -> Result<Graph, SchemaError> {
    measure::measure(value)?;
    let registry = Registry::scan(value, dialect)?;
    let mut compiler = Compiler {
        registry: &registry,
        graph: Graph::default(),
        known: HashMap::new(),
        references: Vec::new(),
        unevaluated: Vec::new(),
        weighed: BTreeSet::new(),
    };
    compiler.graph.places.push(Place { parent: 0, keyword: "", name: None });
    let root = compiler.schema(value, At { place: 0, resource: 0, dialect })?;
    compiler.graph.root = root;
    compiler.resolve_references()?;
    let Compiler { mut graph, unevaluated, .. } = compiler;
    shape::refuse_endless(&graph)?;
    unevaluated::spell_out(&mut graph, unevaluated);
    shape::sum_up(&mut graph);
    Ok(graph)
}

/// Where the compiler is: the place, and what decides how it reads and resolves there.
#[derive(Debug, Clone, Copy)]
struct At {
    place: u32,
    resource: usize,
    dialect: Dialect,
}

/// An `unevaluated*` keyword, to be spelled out once all its neighbours are known.
struct Pending {
    node: Id,
    neighbours: Vec<Id>,
    rest: Id,
    of_items: bool,
    /// `contains` marks what it matches as evaluated, from 2020-12 on.
    contains_counts: bool,
}

struct Compiler<'v> {
    registry: &'v Registry<'v>,
    graph: Graph,
    /// Compiled subschemas by the address of their JSON.
    known: HashMap<usize, Id>,
    references: Vec<(Id, &'v str, At)>,
    unevaluated: Vec<Pending>,
    /// Patterns whose weight is counted.
    weighed: BTreeSet<&'v str>,
}

impl<'v> Compiler<'v> {
    fn schema(&mut self, value: &'v Value, at: At) -> Result<Id, SchemaError> {
        let address = std::ptr::from_ref(value).addr();
        if let Some(id) = self.known.get(&address) {
            return Ok(*id);
        }
        let at = match self.registry.resource_at(value) {
            Some((resource, dialect)) => At { resource, dialect, ..at },
            None => at,
        };
        match value {
            Value::Bool(_) if at.dialect == Dialect::Draft04 => {
                Err(self.invalid(at, "a schema must be an object in draft 04: write `{}` or `{\"not\": {}}`"))
            }
            Value::Bool(accepts) => self.push(if *accepts { Kind::Anything } else { Kind::Nothing }, "", at),
            Value::Object(object) => {
                let id = self.push(Kind::Anything, "", at)?;
                self.known.insert(address, id);
                let parts = self.keywords(object, at)?;
                self.graph.set(id, if parts.is_empty() { Kind::Anything } else { Kind::All(parts) });
                Ok(id)
            }
            Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(self.invalid(at, "a schema must be an object, `true` or `false`"))
            }
        }
    }

    fn resolve_references(&mut self) -> Result<(), SchemaError> {
        while let Some((node, reference, at)) = self.references.pop() {
            let fault = |kind, message| {
                let pointer = self.graph.pointer(node);
                SchemaError::new(kind, pointer, message)
            };
            let Target { value, resource, dialect, steps } = self
                .registry
                .resolve(reference, at.resource)
                .map_err(|(kind, message)| fault(kind, message))?;
            let mut place = 0;
            if !self.known.contains_key(&std::ptr::from_ref(value).addr()) {
                for step in steps {
                    place = self.place(place, "", Some(&step));
                }
            }
            let target = self.schema(value, At { place, resource, dialect })?;
            self.graph.set(node, Kind::All(vec![target]));
        }
        Ok(())
    }

    fn push(&mut self, kind: Kind, keyword: &'static str, at: At) -> Result<Id, SchemaError> {
        let Ok(id) = Id::try_from(self.graph.nodes.len()) else { return Err(self.too_large(at)) };
        if id >= measure::MAX_NODES {
            return Err(self.too_large(at));
        }
        let node = Node {
            kind,
            keyword,
            place: at.place,
            accepts: Types::ALL,
            rejects: Types::ALL,
            tags: Vec::new(),
        };
        self.graph.nodes.push(node);
        Ok(id)
    }

    fn place(&mut self, parent: u32, keyword: &'static str, name: Option<&str>) -> u32 {
        self.graph.places.push(Place { parent, keyword, name: name.map(Into::into) });
        u32::try_from(self.graph.places.len() - 1).unwrap_or(0)
    }

    fn invalid(&self, at: At, message: impl Into<String>) -> SchemaError {
        SchemaError::new(SchemaErrorKind::Invalid, self.graph.pointer_to_place(at.place), message)
    }

    fn too_large(&self, at: At) -> SchemaError {
        let message = "the schema has too many subschemas to compare: split it";
        SchemaError::new(SchemaErrorKind::TooLarge, self.graph.pointer_to_place(at.place), message)
    }
}
