//! A schema of an older draft in the words of 2020-12.
//!
//! `None` where the meaning cannot be carried over word for word; whoever asks then keeps the schemas apart.

use serde_json::{Map, Value};

use super::references;
use crate::dialect::Dialect;
use crate::keyword::map_subschemas;
use crate::validator::asserts_format;

/// The schema in the words of 2020-12.
pub(super) fn modern(schema: &Value) -> Option<Value> {
    let dialect = Dialect::of(schema).ok()?;
    if dialect == Dialect::Draft2020 {
        return Some(schema.clone());
    }
    if references::has_identity(schema)
        || (references::has_any(schema) && !references::only_to_definitions(schema))
    {
        return None;
    }
    let mut modern = rewrite(schema, dialect)?;
    if let Some(object) = modern.as_object_mut() {
        object.remove("$schema");
    }
    Some(modern)
}

fn rewrite(schema: &Value, dialect: Dialect) -> Option<Value> {
    let Value::Object(object) = schema else { return Some(schema.clone()) };
    let is_old = dialect <= Dialect::Draft07;
    if let Some(reference) = object.get("$ref").filter(|_| is_old) {
        // Neighbours of `$ref` said nothing; definitions among them are still pointed to.
        let mut kept = Map::from_iter([("$ref".to_owned(), reference.clone())]);
        for keyword in ["$defs", "definitions"] {
            if let Some(value) = object.get(keyword) {
                kept.insert(keyword.to_owned(), value.clone());
            }
        }
        return rewrite_parts(&kept, dialect);
    }
    rewrite_parts(object, dialect)
}

fn rewrite_parts(object: &Map<String, Value>, dialect: Dialect) -> Option<Value> {
    let since = |since: Dialect| dialect >= since;
    let mut old = object.clone();
    // Keywords that said nothing in this draft, and would now.
    old.retain(|keyword, _| match keyword.as_str() {
        "const" | "contains" | "propertyNames" => since(Dialect::Draft06),
        "if" | "then" | "else" => since(Dialect::Draft07),
        "dependentRequired"
        | "dependentSchemas"
        | "minContains"
        | "maxContains"
        | "unevaluatedItems"
        | "unevaluatedProperties" => since(Dialect::Draft2019),
        "prefixItems" => false,
        _ => true,
    });
    let mut sound = true;
    let mut modern = map_subschemas(&old, |value| {
        rewrite(value, dialect).unwrap_or_else(|| {
            sound = false;
            Value::Null
        })
    });
    // `unevaluatedItems` counts `contains` in 2020-12 only.
    sound &= !(modern.contains_key("unevaluatedItems") && dialect == Dialect::Draft2019);
    sound &= !(modern.contains_key("contentEncoding") || modern.contains_key("contentMediaType"))
        || since(Dialect::Draft2019);
    if let Some(Value::String(format)) = modern.get("format") {
        let same_hostname = format != "hostname" || since(Dialect::Draft07);
        sound &=
            same_hostname && asserts_format(dialect, format) == asserts_format(Dialect::Draft2020, format);
    }
    if dialect == Dialect::Draft04 {
        let names_integer = modern.get("type").is_some_and(|value| {
            value == "integer"
                || value.as_array().is_some_and(|names| names.iter().any(|name| name == "integer"))
        });
        sound &= !names_integer;
        for (plain, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            if modern.remove(exclusive) == Some(Value::Bool(true)) {
                let limit = modern.remove(plain)?;
                modern.insert(exclusive.to_owned(), limit);
            }
        }
    }
    let others = modern.remove("additionalItems");
    if modern.get("items").is_some_and(Value::is_array)
        && let Some(prefix) = modern.remove("items")
    {
        if prefix.as_array().is_some_and(|prefix| !prefix.is_empty()) {
            modern.insert("prefixItems".to_owned(), prefix);
        }
        if let Some(others) = others {
            modern.insert("items".to_owned(), others);
        }
    }
    sound.then_some(Value::Object(modern))
}
