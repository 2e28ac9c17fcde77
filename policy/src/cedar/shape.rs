//! What a request must carry: the attributes that the conditions of a binding look at.

use std::collections::BTreeMap;

use bailiwick_bundles::documents::phrony::FieldPath;
use serde_json::{Map, Value, json};

use super::ACTIONS;
use crate::comparison::Leaf;
use crate::declared::{declared_type, is_required};
use crate::kind::Kind;

/// The attributes of a binding's context.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// Attributes of `context.arguments`, by name.
    pub(super) arguments: BTreeMap<String, Attribute>,
    /// Attributes of `context.facts`, by name: comparisons that the host decides.
    pub(super) facts: BTreeMap<String, Leaf>,
}

/// An attribute of `context.arguments`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    pub(super) path: FieldPath,
    pub(super) slot: Slot,
    /// Whether every call that the input schema accepts has it.
    pub(super) is_required: bool,
}

/// How a value enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Boolean,
    String,
    /// An integer, by the schema.
    Long,
    /// Any number: `floor` and `ceil` in ten-thousandths.
    Decimal,
    /// Whether there is any value.
    Exists,
}

impl Slot {
    /// What the name of its attribute ends in, where the schema does not declare its type: a path may be compared as
    /// several.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::String => "string",
            Self::Long => "integer",
            Self::Decimal => "number",
            Self::Exists => "exists",
        }
    }

    /// Whether it is what the schema declares.
    pub(super) fn is_of(self, declared: Declared) -> bool {
        match self {
            Self::Boolean => declared.kind == Kind::Boolean,
            Self::String => declared.kind == Kind::String,
            Self::Long => declared.is_integer,
            Self::Decimal => declared.kind == Kind::Number && !declared.is_integer,
            Self::Exists => false,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Boolean | Self::Exists => "Bool",
            Self::String => "String",
            Self::Long => "Long",
            Self::Decimal => "{ ceil: Long, floor: Long }",
        }
    }

    fn schema(self, is_required: bool) -> Value {
        let long = json!({ "type": "Long" });
        let mut schema = match self {
            Self::Boolean | Self::Exists => json!({ "type": "Boolean" }),
            Self::String => json!({ "type": "String" }),
            Self::Long => long,
            Self::Decimal => {
                json!({ "type": "Record", "attributes": { "ceil": long, "floor": long } })
            }
        };
        if !is_required && let Value::Object(members) = &mut schema {
            members.insert("required".to_owned(), Value::Bool(false));
        }
        schema
    }
}

impl Shape {
    /// The schema in Cedar's own syntax.
    pub(super) fn to_text(&self) -> String {
        let argument = |(name, attribute): (&String, &Attribute)| {
            let optional = if attribute.is_required { "" } else { "?" };
            format!("{}{optional}: {}", quoted(name), attribute.slot.text())
        };
        let arguments: Vec<String> = self.arguments.iter().map(argument).collect();
        let facts: Vec<String> = self.facts.keys().map(|name| format!("{}?: Bool", quoted(name))).collect();
        format!(
            "entity Agent;\nentity Tool;\n\ntype Call = {{\n  arguments: {},\n  facts: {},\n  phase: String\n}};\n\n\
             action {} appliesTo {{\n  principal: [Agent],\n  resource: [Tool],\n  context: Call\n}};\n",
            record(&arguments),
            record(&facts),
            ACTIONS.join(", "),
        )
    }

    /// The schema of a binding with this context, in Cedar's JSON form.
    pub(super) fn to_schema(&self) -> Value {
        let arguments: Map<String, Value> = self
            .arguments
            .iter()
            .map(|(name, attribute)| (name.clone(), attribute.slot.schema(attribute.is_required)))
            .collect();
        let facts: Map<String, Value> =
            self.facts.keys().map(|name| (name.clone(), Slot::Boolean.schema(false))).collect();
        let context = json!({
            "type": "Record",
            "attributes": {
                "arguments": { "type": "Record", "attributes": arguments },
                "facts": { "type": "Record", "attributes": facts },
                "phase": { "type": "String" }
            }
        });
        let action = json!({
            "appliesTo": {
                "principalTypes": ["Agent"],
                "resourceTypes": ["Tool"],
                "context": { "type": "Call" }
            }
        });
        let actions: Map<String, Value> =
            ACTIONS.iter().map(|name| ((*name).to_owned(), action.clone())).collect();
        json!({ "": {
            "commonTypes": { "Call": context },
            "entityTypes": { "Agent": {}, "Tool": {} },
            "actions": actions
        } })
    }
}

fn record(attributes: &[String]) -> String {
    if attributes.is_empty() {
        "{}".to_owned()
    } else {
        format!("{{\n    {}\n  }}", attributes.join(",\n    "))
    }
}

/// A name as a Cedar string, which stands for any attribute. INVARIANT of the shape: names are printable ASCII.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// What the schema says of the value at a path, where it says it plainly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) kind: Kind,
    pub(super) is_integer: bool,
    pub(super) is_required: bool,
}

/// Looks along `properties`; anything else says nothing plainly.
pub(super) fn declared(input: &Value, path: &FieldPath) -> Option<Declared> {
    let kind = declared_type(input, path)?;
    let is_required = is_required(input, path);
    Some(Declared { kind: Kind::named(kind)?, is_integer: kind == "integer", is_required })
}
