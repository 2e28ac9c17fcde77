//! The Cedar text of a binding, decided by Cedar's public interface from the text alone.
//!
//! The context is made from the schema's text as the snapshot format tells: what stands here is what another engine
//! has to write.

use std::collections::BTreeMap;
use std::str::FromStr;

use bailiwick_policy::{CedarText, Comparison, Condition};
use cedar_policy::{
    Authorizer, Context, Decision, Entities, EntityUid, PolicySet, Request, Schema, SchemaFragment,
    ValidationMode, Validator,
};
use serde_json::{Map, Value, json};

use crate::reference;

pub struct Engine {
    policies: PolicySet,
    schema: Schema,
    arguments: Map<String, Value>,
    facts: BTreeMap<String, Condition>,
}

impl Engine {
    pub fn new(text: &CedarText) -> Self {
        let set = PolicySet::from_str(&text.policies).expect("policies that parse");
        let (fragment, _) = SchemaFragment::from_cedarschema_str(&text.schema).expect("a schema that parses");
        let json = fragment.clone().to_json_value().expect("a schema in JSON");
        let schema = Schema::from_schema_fragments([fragment]).expect("a schema");
        let validated = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
        assert!(validated.validation_passed(), "{validated:?}");
        assert_eq!(validated.validation_warnings().count(), 0);
        let arguments = json[""]["commonTypes"]["Call"]["attributes"]["arguments"]["attributes"].clone();
        let mut facts = BTreeMap::new();
        for policy in set.policies() {
            let named =
                policy.annotations().filter(|(name, _)| !["id", "condition", "decision"].contains(name));
            for (name, comparison) in named {
                let comparison: Comparison = serde_json::from_str(comparison).expect("a comparison");
                facts.insert(name.to_owned(), Condition::Leaf(comparison));
            }
        }
        Self { policies: set, schema, arguments: arguments.as_object().cloned().unwrap_or_default(), facts }
    }

    /// The strictest of the three actions that is refused says what is needed.
    pub fn decide(&self, arguments: &Value, phase: &str) -> &'static str {
        for (action, word) in
            [("unattended", "allow"), ("approved", "require_approval"), ("reviewed", "escalate")]
        {
            if self.permits(action, arguments, phase) {
                return word;
            }
        }
        "deny"
    }

    fn permits(&self, action: &str, arguments: &Value, phase: &str) -> bool {
        let uid = |kind: &str, id: &str| EntityUid::from_str(&format!("{kind}::\"{id}\"")).expect("an id");
        let action = uid("Action", action);
        let context = Context::from_json_value(self.context(arguments, phase), Some((&self.schema, &action)));
        let (agent, tool) = (uid("Agent", "acme.desk"), uid("Tool", "pay"));
        let request = Request::new(agent, action, tool, context.expect("a context"), Some(&self.schema))
            .expect("a request");
        let response = Authorizer::new().is_authorized(&request, &self.policies, &Entities::empty());
        assert_eq!(response.diagnostics().errors().count(), 0);
        response.decision() == Decision::Allow
    }

    fn context(&self, arguments: &Value, phase: &str) -> Value {
        let mut given = Map::new();
        for name in self.arguments.keys() {
            let (path, kind) = name.split_once('#').unwrap_or((name, "declared"));
            let found = path.split('.').try_fold(arguments, |value, step| value.as_object()?.get(step));
            let ty = &self.arguments[name];
            let value = match (kind, found) {
                ("exists", found) => Some(found.is_some().into()),
                (_, Some(Value::Number(number))) if is(ty, "Long") => {
                    Some(long(number.as_f64().expect("a number")))
                }
                (_, Some(Value::Number(number))) if is(ty, "Record") => Some(grid(&number.to_string())),
                (_, Some(Value::String(text))) if is(ty, "String") => Some(text.as_str().into()),
                (_, Some(Value::Bool(value))) if is(ty, "Bool") => Some((*value).into()),
                _ => None,
            };
            given.extend(value.map(|value| (name.clone(), value)));
        }
        let mut facts = Map::new();
        for (name, comparison) in &self.facts {
            let known = reference::holds(comparison, arguments, phase);
            facts.extend(known.map(|known| (name.clone(), known.into())));
        }
        json!({ "arguments": given, "facts": facts, "phase": phase })
    }
}

fn is(ty: &Value, name: &str) -> bool {
    ty["type"] == name || ty["name"] == name || ty["name"] == format!("__cedar::{name}")
}

fn long(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "the nearest of 64 bits is meant")]
    let value = value as i64;
    value.into()
}

/// A number in ten-thousandths, by long division of its digits.
fn grid(text: &str) -> Value {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let is_negative = mantissa.starts_with('-');
    let (whole, fraction) =
        mantissa.trim_start_matches('-').split_once('.').unwrap_or((mantissa.trim_start_matches('-'), ""));
    let digits = format!("{whole}{fraction}");
    let point = i64::try_from(whole.len()).unwrap() + exponent.parse::<i64>().unwrap() + 4;
    let padded = |n: i64| {
        digits.chars().chain(std::iter::repeat('0')).take(usize::try_from(n).unwrap()).collect::<String>()
    };
    let (kept, rest) = if point <= 0 {
        (0, digits.bytes().any(|digit| digit != b'0'))
    } else if point > 25 {
        (i128::from(i64::MAX) + 1, false)
    } else {
        let rest = digits.get(usize::try_from(point).unwrap()..).unwrap_or_default();
        (padded(point).parse::<i128>().unwrap(), rest.bytes().any(|digit| digit != b'0'))
    };
    let clamp = |value: i128| i64::try_from(value).unwrap_or(if value < 0 { i64::MIN } else { i64::MAX });
    let up = kept + i128::from(rest);
    let (floor, ceil) = if is_negative { (-up, -kept) } else { (kept, up) };
    // Zero times any power is zero.
    if digits.bytes().all(|digit| digit == b'0') {
        return json!({ "floor": 0, "ceil": 0 });
    }
    json!({ "floor": clamp(floor), "ceil": clamp(ceil) })
}
