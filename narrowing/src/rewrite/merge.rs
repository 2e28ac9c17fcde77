//! Merging two schemas keyword by keyword.
//!
//! Every merge is exact or refused. Keywords that depend on one another (`properties` and `additionalProperties`,
//! `prefixItems` and `items`, `contains` and its counts) are merged as a group.

use std::cmp::Ordering;

use serde_json::{Map, Value, json};

use super::references::joined_definitions;
use crate::data;
use crate::dialect::Dialect;
use crate::keyword::is_annotation;
use crate::rational::Rational;

type Object = Map<String, Value>;

/// Both as one schema; beside each other in `allOf` where a keyword cannot be merged. `None` when they cannot share a
/// document.
pub(super) fn merge(left: &Value, right: &Value, dialect: Dialect) -> Option<Value> {
    match (left, right) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => Some(other.clone()),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Some(Value::Bool(false)),
        (Value::Object(ours), Value::Object(theirs)) => {
            let mut ours = ours.clone();
            let mut theirs = theirs.clone();
            let hoisted = hoist(&mut ours, &mut theirs)?;
            let merged = if is_mergeable(&ours, dialect) && is_mergeable(&theirs, dialect) {
                merge_objects(&ours, &theirs, dialect)
            } else {
                None
            };
            let mut whole =
                merged.unwrap_or_else(|| Object::from_iter([("allOf".to_owned(), json!([ours, theirs]))]));
            whole.extend(hoisted);
            Some(Value::Object(whole))
        }
        _ => None,
    }
}

/// `part` merged into the object it stands beside; `None` when it must stay where it is.
pub(super) fn merge_in_place(whole: &Object, part: &Value, dialect: Dialect) -> Option<Value> {
    match part {
        Value::Bool(true) => Some(Value::Object(whole.clone())),
        Value::Object(part) => {
            let is_rooted =
                ["$schema", "$defs", "definitions"].iter().any(|keyword| part.contains_key(*keyword));
            if is_rooted || !is_mergeable(part, dialect) {
                return None;
            }
            merge_objects(whole, part, dialect).map(Value::Object)
        }
        Value::Null | Value::Bool(false) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// Whether the keywords of the object mean the same wherever neighbours are added.
pub(super) fn is_mergeable(object: &Object, dialect: Dialect) -> bool {
    !object.contains_key("unevaluatedProperties")
        && !object.contains_key("unevaluatedItems")
        && (dialect > Dialect::Draft07 || !object.contains_key("$ref"))
}

/// What belongs to a document as a whole, taken out of both.
fn hoist(ours: &mut Object, theirs: &mut Object) -> Option<Object> {
    let mut hoisted = Object::new();
    for keyword in ["$schema", "$defs", "definitions"] {
        let value = match (ours.remove(keyword), theirs.remove(keyword)) {
            (Some(Value::Object(left)), Some(Value::Object(right))) => {
                Value::Object(joined_definitions(&left, &right)?)
            }
            (Some(value), _) | (None, Some(value)) => value,
            (None, None) => continue,
        };
        hoisted.insert(keyword.to_owned(), value);
    }
    Some(hoisted)
}

fn merge_objects(left: &Object, right: &Object, dialect: Dialect) -> Option<Object> {
    let mut merged = left.clone();
    let mut groups = Vec::new();
    for (keyword, theirs) in right {
        let Some(ours) = left.get(keyword).filter(|ours| *ours != theirs || is_grouped(keyword)) else {
            if is_grouped(keyword) {
                groups.push(keyword.as_str());
            } else {
                merged.insert(keyword.clone(), theirs.clone());
            }
            continue;
        };
        if is_grouped(keyword) {
            groups.push(keyword.as_str());
            continue;
        }
        let value =
            if is_annotation(keyword) { theirs.clone() } else { both(keyword, ours, theirs, dialect)? };
        merged.insert(keyword.clone(), value);
    }
    if !groups.is_empty() {
        merge_fields(left, right, &mut merged, dialect)?;
        merge_items(left, right, &mut merged, dialect)?;
        keep_whole(left, right, &mut merged, &["contains", "minContains", "maxContains"])?;
        keep_whole(left, right, &mut merged, &["if", "then", "else"])?;
        if dialect == Dialect::Draft04 {
            keep_whole(left, right, &mut merged, &["minimum", "exclusiveMinimum"])?;
            keep_whole(left, right, &mut merged, &["maximum", "exclusiveMaximum"])?;
        } else {
            for (keyword, greater) in [
                ("minimum", true),
                ("exclusiveMinimum", true),
                ("maximum", false),
                ("exclusiveMaximum", false),
            ] {
                merge_limit(left, right, &mut merged, keyword, greater)?;
            }
        }
    }
    Some(merged)
}

fn is_grouped(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties"
            | "patternProperties"
            | "additionalProperties"
            | "items"
            | "prefixItems"
            | "additionalItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "if"
            | "then"
            | "else"
            | "minimum"
            | "exclusiveMinimum"
            | "maximum"
            | "exclusiveMaximum"
    )
}

/// The value of one keyword that says what both values say.
fn both(keyword: &str, ours: &Value, theirs: &Value, dialect: Dialect) -> Option<Value> {
    match keyword {
        "type" => types(ours, theirs, dialect),
        "required" => {
            let mut names = ours.as_array()?.clone();
            let more = theirs.as_array()?.iter().filter(|name| !names.contains(name));
            let more: Vec<Value> = more.cloned().collect();
            names.extend(more);
            Some(Value::Array(names))
        }
        "enum" => {
            let theirs: Vec<Value> = theirs.as_array()?.iter().map(data::canonical).collect::<Option<_>>()?;
            let is_shared = |value: &&Value| {
                data::canonical(value)
                    .is_some_and(|value| theirs.iter().any(|other| data::same(&value, other)))
            };
            let members: Vec<Value> = ours.as_array()?.iter().filter(is_shared).cloned().collect();
            (!members.is_empty()).then_some(Value::Array(members))
        }
        "minLength" | "minItems" | "minProperties" => greater(ours, theirs, Ordering::Greater),
        "maxLength" | "maxItems" | "maxProperties" => greater(ours, theirs, Ordering::Less),
        "multipleOf" => {
            let step = number(ours)?.least_common_multiple(number(theirs)?)?;
            step.write(false)
        }
        "uniqueItems" => Some(Value::Bool(ours == &Value::Bool(true) || theirs == &Value::Bool(true))),
        "propertyNames" => merge(ours, theirs, dialect),
        "dependentSchemas" => {
            merge_maps(ours.as_object()?, theirs.as_object()?, |left, right| merge(left, right, dialect))
        }
        "dependentRequired" => merge_maps(ours.as_object()?, theirs.as_object()?, |left, right| {
            both("required", left, right, dialect)
        }),
        "allOf" => {
            let mut parts = ours.as_array()?.clone();
            parts.extend(theirs.as_array()?.iter().cloned());
            Some(Value::Array(parts))
        }
        _ => None,
    }
}

fn merge_maps(
    ours: &Object,
    theirs: &Object,
    mut merge: impl FnMut(&Value, &Value) -> Option<Value>,
) -> Option<Value> {
    let mut merged = ours.clone();
    for (name, value) in theirs {
        let value = match ours.get(name) {
            Some(own) => merge(own, value)?,
            None => value.clone(),
        };
        merged.insert(name.clone(), value);
    }
    Some(Value::Object(merged))
}

fn types(ours: &Value, theirs: &Value, dialect: Dialect) -> Option<Value> {
    let list = |value: &Value| match value {
        Value::String(_) => Some(vec![value.clone()]),
        Value::Array(names) => Some(names.clone()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    };
    let (ours, theirs) = (list(ours)?, list(theirs)?);
    let number_has_integer =
        dialect > Dialect::Draft04 || !ours.iter().chain(&theirs).any(|name| name == "integer");
    let has = |names: &[Value], name: &Value| {
        names.contains(name)
            || (name == "integer" && number_has_integer && names.iter().any(|name| name == "number"))
    };
    let mut shared: Vec<Value> = Vec::new();
    for name in
        ours.iter().filter(|name| has(&theirs, name)).chain(theirs.iter().filter(|name| has(&ours, name)))
    {
        if !shared.contains(name) {
            shared.push(name.clone());
        }
    }
    if shared.iter().any(|name| name == "number") {
        shared.retain(|name| name != "integer");
    }
    match shared.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(Value::Array(shared)),
    }
}

fn merge_fields(left: &Object, right: &Object, merged: &mut Object, dialect: Dialect) -> Option<()> {
    let empty = Object::new();
    let map = |object: &'_ Object, keyword: &str| {
        object.get(keyword).map_or(Some(empty.clone()), |value| value.as_object().cloned())
    };
    let (ours, theirs) = (map(left, "properties")?, map(right, "properties")?);
    let (our_patterns, their_patterns) = (map(left, "patternProperties")?, map(right, "patternProperties")?);
    let rest = |object: &Object| {
        object.get("additionalProperties").filter(|rest| **rest != true && !is_trivial(rest)).cloned()
    };
    let (our_rest, their_rest) = (rest(left), rest(right));
    let are_patterned = !our_patterns.is_empty() || !their_patterns.is_empty();
    if are_patterned && (our_rest.is_some() || their_rest.is_some()) {
        // Which names are left over would change.
        let same_names = |left: &Object, right: &Object| left.keys().eq(right.keys());
        if !(same_names(&ours, &theirs) && same_names(&our_patterns, &their_patterns)) {
            return keep_whole(
                left,
                right,
                merged,
                &["properties", "patternProperties", "additionalProperties"],
            );
        }
    }
    let beside = |rest: &Option<Value>, value: &Value| match rest {
        None => Some(value.clone()),
        Some(rest) => merge(rest, value, dialect),
    };
    let mut fields = Object::new();
    for name in ours.keys().chain(theirs.keys().filter(|name| !ours.contains_key(*name))) {
        let value = match (ours.get(name), theirs.get(name)) {
            (Some(own), Some(other)) => merge(own, other, dialect)?,
            (Some(own), None) => beside(&their_rest, own)?,
            (None, Some(other)) => beside(&our_rest, other)?,
            (None, None) => continue,
        };
        fields.insert(name.clone(), value);
    }
    let patterns = merge_maps(&our_patterns, &their_patterns, |left, right| merge(left, right, dialect))?;
    let rest = match (our_rest, their_rest) {
        (Some(own), Some(other)) => Some(merge(&own, &other, dialect)?),
        (own, other) => own.or(other),
    };
    if rest == Some(Value::Bool(false)) && !are_patterned {
        // A closed object does not need to name what it refuses.
        fields.retain(|_, value| *value != false);
    }
    let stated = |keyword: &str| left.contains_key(keyword) || right.contains_key(keyword);
    if stated("properties") {
        merged.insert("properties".to_owned(), Value::Object(fields));
    }
    if stated("patternProperties") {
        merged.insert("patternProperties".to_owned(), patterns);
    }
    // One that asserts nothing still evaluates what is left over.
    if let Some(rest) = rest.or_else(|| right.get("additionalProperties").cloned()) {
        merged.insert("additionalProperties".to_owned(), rest);
    }
    Some(())
}

fn is_trivial(schema: &Value) -> bool {
    schema.as_object().is_some_and(|object| object.keys().all(|keyword| is_annotation(keyword)))
}

fn merge_items(left: &Object, right: &Object, merged: &mut Object, dialect: Dialect) -> Option<()> {
    let group = ["items", "prefixItems", "additionalItems"];
    let is_plain = |object: &Object| {
        !object.contains_key("prefixItems")
            && !object.contains_key("additionalItems")
            && object.get("items").is_none_or(|items| !items.is_array())
    };
    if is_plain(left)
        && is_plain(right)
        && let (Some(ours), Some(theirs)) = (left.get("items"), right.get("items"))
    {
        merged.insert("items".to_owned(), merge(ours, theirs, dialect)?);
        return Some(());
    }
    keep_whole(left, right, merged, &group)
}

/// Takes a group of keywords from the side that has any; both sides only when they say the same.
fn keep_whole(left: &Object, right: &Object, merged: &mut Object, group: &[&str]) -> Option<()> {
    let has_any = |object: &Object| group.iter().any(|keyword| object.contains_key(*keyword));
    if !has_any(right) {
        return Some(());
    }
    if has_any(left) {
        return group.iter().all(|keyword| left.get(*keyword) == right.get(*keyword)).then_some(());
    }
    for keyword in group {
        if let Some(value) = right.get(*keyword) {
            merged.insert((*keyword).to_owned(), value.clone());
        }
    }
    Some(())
}

fn merge_limit(
    left: &Object,
    right: &Object,
    merged: &mut Object,
    keyword: &str,
    is_lower: bool,
) -> Option<()> {
    let value = match (left.get(keyword), right.get(keyword)) {
        (Some(ours), Some(theirs)) => {
            greater(ours, theirs, if is_lower { Ordering::Greater } else { Ordering::Less })?
        }
        (None, Some(theirs)) => theirs.clone(),
        (_, None) => return Some(()),
    };
    merged.insert(keyword.to_owned(), value);
    Some(())
}

/// The one of two numbers that compares as `wanted` to the other.
fn greater(ours: &Value, theirs: &Value, wanted: Ordering) -> Option<Value> {
    let order = number(theirs)?.cmp(&number(ours)?);
    Some(if order == wanted { theirs.clone() } else { ours.clone() })
}

fn number(value: &Value) -> Option<Rational> {
    Rational::read(value.as_number()?)
}
