//! A schema without what cannot concern one instance.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::references;
use crate::keyword::map_subschemas;

/// `schema` without the entries of `properties` whose names occur nowhere in `instance`: says the same about `instance`,
/// since such an entry is about a property that is not there. `None` where references might lead to one.
pub(crate) fn without_absent(schema: &Value, instance: &Value) -> Option<Value> {
    if references::has_any(schema) || references::has_identity(schema) {
        return None;
    }
    let mut names = BTreeSet::new();
    collect(instance, &mut names);
    Some(trim(schema, &names))
}

fn collect<'v>(instance: &'v Value, names: &mut BTreeSet<&'v str>) {
    match instance {
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Object(object) => {
            names.extend(object.keys().map(String::as_str));
            object.values().for_each(|value| collect(value, names));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn trim(schema: &Value, names: &BTreeSet<&str>) -> Value {
    let Value::Object(object) = schema else { return schema.clone() };
    let mut kept = Map::new();
    for (keyword, value) in object {
        let value = if let Some(all) = value.as_object().filter(|_| keyword == "properties") {
            let present = all.iter().filter(|(name, _)| names.contains(name.as_str()));
            Value::Object(present.map(|(name, value)| (name.clone(), value.clone())).collect())
        } else {
            value.clone()
        };
        kept.insert(keyword.clone(), value);
    }
    Value::Object(map_subschemas(&kept, |value| trim(value, names)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::without_absent;

    #[test]
    fn only_absent_properties_are_left_out() {
        let schema = json!({
            "properties": {"a": {"properties": {"b": true, "c": true}}, "d": false},
            "additionalProperties": {"properties": {"a": false, "z": true}},
            "const": {"properties": {"z": 1}},
        });
        let trimmed = json!({
            "properties": {"a": {"properties": {"b": true}}},
            "additionalProperties": {"properties": {"a": false}},
            "const": {"properties": {"z": 1}},
        });
        assert_eq!(without_absent(&schema, &json!([{"a": {"b": 1}}])), Some(trimmed));
        assert_eq!(without_absent(&json!({"properties": {"a": {"$ref": "#"}}}), &json!({})), None);
        assert_eq!(without_absent(&json!({"$defs": {"a": {"$anchor": "x"}}}), &json!({})), None);
    }
}
