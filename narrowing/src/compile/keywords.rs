//! What each keyword asserts, as each draft defines it.
//!
//! Every keyword a draft defines is checked for its shape, those that only annotate too: a misspelt value must not pass
//! as a schema that asserts nothing. Keywords a draft does not define say nothing there.

use serde_json::{Map, Value};

use super::{At, Compiler, Pending};
use crate::dialect::Dialect;
use crate::error::SchemaError;
use crate::node::{Fields, Id, Kind, Types};
use crate::validator::FormatCheck;

type Object = Map<String, Value>;

impl<'v> Compiler<'v> {
    /// The nodes of all keywords of a schema object.
    pub(super) fn keywords(&mut self, object: &'v Object, at: At) -> Result<Vec<Id>, SchemaError> {
        let mut parts = Vec::new();
        self.definitions(object, at)?;
        if let Some(reference) = object.get("$ref") {
            let Value::String(reference) = reference else {
                return Err(self.wrong(at, "$ref", "must be a string"));
            };
            self.reference(reference, "$ref", at, &mut parts)?;
            if at.dialect <= Dialect::Draft07 {
                // Neighbours of `$ref` say nothing in these drafts.
                return Ok(parts);
            }
        }
        for (keyword, value) in object {
            self.simple(keyword, value, at, &mut parts)?;
        }
        self.numbers(object, at, &mut parts)?;
        self.fields(object, at, &mut parts)?;
        self.items(object, at, &mut parts)?;
        self.choices(object, at, &mut parts)?;
        self.dependencies(object, at, &mut parts)?;
        self.leftovers(object, at, &mut parts)?;
        Ok(parts)
    }

    fn definitions(&mut self, object: &'v Object, at: At) -> Result<(), SchemaError> {
        for keyword in ["$defs", "definitions"] {
            if let Some(value) = object.get(keyword) {
                let Value::Object(map) = value else {
                    return Err(self.wrong(at, keyword, "must be an object of schemas"));
                };
                for (name, value) in map {
                    let place = self.place(at.place, keyword, Some(name));
                    self.schema(value, At { place, ..at })?;
                }
            }
        }
        Ok(())
    }

    /// Keywords whose meaning depends on no other keyword.
    fn simple(
        &mut self,
        keyword: &'v str,
        value: &'v Value,
        at: At,
        parts: &mut Vec<Id>,
    ) -> Result<(), SchemaError> {
        let kind = match keyword {
            "type" => Kind::Types(self.types(value, at)?),
            "enum" => {
                let Value::Array(members) = value else {
                    return Err(self.wrong(at, keyword, "must be a list"));
                };
                if members.is_empty() && at.dialect <= Dialect::Draft06 {
                    return Err(self.wrong(at, keyword, "must not be empty"));
                }
                self.members(members.iter(), keyword, at)?
            }
            "const" if at.dialect >= Dialect::Draft06 => self.members([value].into_iter(), keyword, at)?,
            "minLength" => Kind::MinLength(self.count(value, keyword, at)?),
            "maxLength" => Kind::MaxLength(self.count(value, keyword, at)?),
            "minItems" => Kind::MinItems(self.count(value, keyword, at)?),
            "maxItems" => Kind::MaxItems(self.count(value, keyword, at)?),
            "minProperties" => Kind::MinFields(self.count(value, keyword, at)?),
            "maxProperties" => Kind::MaxFields(self.count(value, keyword, at)?),
            "pattern" => {
                let Value::String(source) = value else {
                    return Err(self.wrong(at, keyword, "must be a string"));
                };
                Kind::Pattern(self.pattern(source, keyword, at)?)
            }
            "format" => {
                let Value::String(name) = value else {
                    return Err(self.wrong(at, keyword, "must be a string"));
                };
                let Some(check) = FormatCheck::new(name, at.dialect) else {
                    // Formats of the drafts that the validator at hand does not check: others do.
                    if at.dialect >= Dialect::Draft07
                        && ["idn-email", "idn-hostname"].contains(&name.as_str())
                    {
                        self.opaque("format", Types::STRING, at, parts)?;
                    }
                    return Ok(());
                };
                Kind::Format(check)
            }
            "multipleOf" => {
                let step = self.number(value, keyword, at)?;
                if !step.is_positive() {
                    return Err(self.wrong(at, keyword, "must be greater than zero"));
                }
                Kind::MultipleOf(step)
            }
            "uniqueItems" => {
                let Value::Bool(unique) = value else {
                    return Err(self.wrong(at, keyword, "must be `true` or `false`"));
                };
                if !unique {
                    return Ok(());
                }
                Kind::Unique
            }
            "required" => {
                let names = self.names(value, keyword, at)?;
                if names.is_empty() && at.dialect == Dialect::Draft04 {
                    return Err(self.wrong(at, keyword, "must not be empty"));
                }
                Kind::Required(names)
            }
            "propertyNames" if at.dialect >= Dialect::Draft06 => {
                Kind::Names(self.below(value, "propertyNames", at)?)
            }
            "not" => Kind::Not(self.below(value, "not", at)?),
            _ => return self.annotation(keyword, value, at),
        };
        parts.push(self.push(kind, known(keyword), at)?);
        Ok(())
    }

    /// Keywords that assert nothing still have a shape.
    fn annotation(&mut self, keyword: &str, value: &Value, at: At) -> Result<(), SchemaError> {
        let since = |dialect| at.dialect >= dialect;
        // Whether an identifier is a legal one is for the validator to say.
        self.graph.relies_on_validator |= matches!(keyword, "$id" | "id" | "$anchor" | "$dynamicAnchor");
        let must_be = match keyword {
            "title" | "description" | "$schema" => value.is_string().then_some(()).ok_or("must be a string"),
            "$comment" | "contentMediaType" | "contentEncoding" if since(Dialect::Draft07) => {
                value.is_string().then_some(()).ok_or("must be a string")
            }
            "examples" if since(Dialect::Draft06) => value.is_array().then_some(()).ok_or("must be a list"),
            "readOnly" | "writeOnly" if since(Dialect::Draft07) => {
                value.is_boolean().then_some(()).ok_or("must be `true` or `false`")
            }
            "deprecated" if since(Dialect::Draft2019) => {
                value.is_boolean().then_some(()).ok_or("must be `true` or `false`")
            }
            "$id" if since(Dialect::Draft06) => value.is_string().then_some(()).ok_or("must be a string"),
            "id" if at.dialect == Dialect::Draft04 => {
                value.is_string().then_some(()).ok_or("must be a string")
            }
            "$anchor" | "$dynamicAnchor" if since(Dialect::Draft2019) => {
                value.is_string().then_some(()).ok_or("must be a string")
            }
            "$recursiveAnchor" if at.dialect == Dialect::Draft2019 => {
                value.is_boolean().then_some(()).ok_or("must be `true` or `false`")
            }
            _ => Ok(()),
        };
        must_be.map_err(|message| self.wrong(at, keyword, message))
    }

    fn numbers(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        for (plain, exclusive, upper) in
            [("minimum", "exclusiveMinimum", false), ("maximum", "exclusiveMaximum", true)]
        {
            let mut excludes = false;
            if at.dialect == Dialect::Draft04 {
                if let Some(value) = object.get(exclusive) {
                    let Value::Bool(flag) = value else {
                        return Err(self.wrong(at, exclusive, "must be `true` or `false` in draft 04"));
                    };
                    if !object.contains_key(plain) {
                        return Err(self.wrong(
                            at,
                            exclusive,
                            format!("needs `{plain}` beside it in draft 04"),
                        ));
                    }
                    excludes = *flag;
                }
            } else if let Some(value) = object.get(exclusive) {
                let limit = self.number(value, exclusive, at)?;
                parts.push(self.push(Kind::Bound { limit, exclusive: true, upper }, exclusive, at)?);
            }
            if let Some(value) = object.get(plain) {
                let limit = self.number(value, plain, at)?;
                parts.push(self.push(Kind::Bound { limit, exclusive: excludes, upper }, plain, at)?);
            }
        }
        Ok(())
    }

    fn fields(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        let mut fields = Fields { named: Vec::new(), patterns: Vec::new(), rest: None };
        if let Some(map) = self.map(object, "properties", at)? {
            for (name, value) in map {
                let place = self.place(at.place, "properties", Some(name));
                fields.named.push((name.as_str().into(), self.schema(value, At { place, ..at })?));
            }
            fields.named.sort();
        }
        if let Some(map) = self.map(object, "patternProperties", at)? {
            for (source, value) in map {
                let place = self.place(at.place, "patternProperties", Some(source));
                let pattern = self.pattern(source, "patternProperties", at)?;
                fields.patterns.push((pattern, self.schema(value, At { place, ..at })?));
            }
        }
        let mut keyword = if fields.named.is_empty() { "patternProperties" } else { "properties" };
        if let Some(value) = object.get("additionalProperties") {
            let rest = self.below_lenient(value, "additionalProperties", at)?;
            fields.rest = Some(rest);
            if fields.named.is_empty() && fields.patterns.is_empty() {
                keyword = "additionalProperties";
            }
        }
        if !fields.named.is_empty() || !fields.patterns.is_empty() || fields.rest.is_some() {
            parts.push(self.push(Kind::Fields(fields), keyword, at)?);
        }
        Ok(())
    }

    fn items(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        let is_new = at.dialect == Dialect::Draft2020;
        let mut prefix = Vec::new();
        let mut keyword = "items";
        let (listed, others) = if is_new { ("prefixItems", "items") } else { ("items", "additionalItems") };
        let stated = object.get(others).map(|value| self.below_lenient(value, others, at)).transpose()?;
        let rest = match object.get(listed) {
            Some(Value::Array(list)) => {
                if list.is_empty() && at.dialect != Dialect::Draft2019 {
                    return Err(self.wrong(at, listed, "must not be an empty list"));
                }
                prefix = self.list(list, listed, at)?;
                keyword = listed;
                stated
            }
            Some(_) if is_new => return Err(self.wrong(at, listed, "must be a list of schemas")),
            Some(value) => Some(self.below(value, "items", at)?),
            None => stated.filter(|_| is_new),
        };
        if !prefix.is_empty() || rest.is_some() {
            let rest = match rest {
                Some(rest) => rest,
                None => self.push(Kind::Anything, "", at)?,
            };
            parts.push(self.push(Kind::Items { prefix, rest }, keyword, at)?);
        }
        self.contains(object, at, parts)
    }

    fn contains(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        let (mut min, mut max) = (1, None);
        if at.dialect >= Dialect::Draft2019 {
            if let Some(value) = object.get("minContains") {
                min = self.count(value, "minContains", at)?;
            }
            max = object.get("maxContains").map(|value| self.count(value, "maxContains", at)).transpose()?;
        }
        if at.dialect >= Dialect::Draft06
            && let Some(value) = object.get("contains")
        {
            let item = self.below(value, "contains", at)?;
            parts.push(self.push(Kind::Contains { item, min, max }, "contains", at)?);
        }
        Ok(())
    }

    fn choices(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let Some(value) = object.get(keyword) else { continue };
            let Value::Array(list) = value else {
                return Err(self.wrong(at, keyword, "must be a list of schemas"));
            };
            if list.is_empty() {
                return Err(self.wrong(at, keyword, "must not be empty"));
            }
            let ids = self.list(list, keyword, at)?;
            let kind = match keyword {
                "allOf" => Kind::All(ids),
                "anyOf" => Kind::Any(ids),
                _ => Kind::One(ids),
            };
            parts.push(self.push(kind, keyword, at)?);
        }
        if at.dialect >= Dialect::Draft07 {
            let mut part =
                |keyword| object.get(keyword).map(|value| self.below(value, keyword, at)).transpose();
            let (test, then, otherwise) = (part("if")?, part("then")?, part("else")?);
            if let Some(test) = test {
                let anything = self.push(Kind::Anything, "", at)?;
                let kind = Kind::If {
                    test,
                    then: then.unwrap_or(anything),
                    otherwise: otherwise.unwrap_or(anything),
                };
                parts.push(self.push(kind, "if", at)?);
            }
        }
        Ok(())
    }

    fn dependencies(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            if keyword != "dependencies" && at.dialect < Dialect::Draft2019 {
                continue;
            }
            let Some(map) = self.map(object, keyword, at)? else { continue };
            for (name, value) in map {
                let place = self.place(at.place, keyword, Some(name));
                let here = At { place, ..at };
                let then = if value.is_array() && keyword != "dependentSchemas" {
                    let names = self.names(value, keyword, here)?;
                    self.push(Kind::Required(names), "", here)?
                } else if keyword == "dependentRequired" {
                    return Err(self.wrong(here, "", "must be a list of property names"));
                } else {
                    self.schema(value, here)?
                };
                let kind = Kind::Dependent { name: name.as_str().into(), then };
                parts.push(self.push(kind, keyword, at)?);
            }
        }
        Ok(())
    }

    /// References that may depend on the path taken, neighbours that decide what is evaluated, and assertions that are
    /// not modelled.
    fn leftovers(&mut self, object: &'v Object, at: At, parts: &mut Vec<Id>) -> Result<(), SchemaError> {
        if at.dialect == Dialect::Draft2020
            && let Some(value) = object.get("$dynamicRef")
        {
            let Value::String(reference) = value else {
                return Err(self.wrong(at, "$dynamicRef", "must be a string"));
            };
            let anchor = reference.split_once('#').map_or("", |(_, anchor)| anchor);
            // Anchors are registered as they are written.
            if !anchor.contains('%') && self.registry.is_static(anchor) {
                self.reference(reference, "$dynamicRef", at, parts)?;
            } else {
                self.opaque("$dynamicRef", Types::ALL, at, parts)?;
            }
        }
        if at.dialect == Dialect::Draft2019
            && let Some(value) = object.get("$recursiveRef")
        {
            if value != "#" {
                return Err(self.wrong(at, "$recursiveRef", "must be `#`"));
            }
            if self.registry.recursion_is_static() {
                self.reference("#", "$recursiveRef", at, parts)?;
            } else {
                self.opaque("$recursiveRef", Types::ALL, at, parts)?;
            }
        }
        if matches!(at.dialect, Dialect::Draft06 | Dialect::Draft07) {
            // The validator decodes and checks these in these drafts.
            for keyword in ["contentEncoding", "contentMediaType"] {
                if object.contains_key(keyword) {
                    self.opaque(keyword, Types::STRING, at, parts)?;
                }
            }
        }
        if let Some(value) = object.get("contentSchema").filter(|_| at.dialect >= Dialect::Draft2019) {
            self.below(value, "contentSchema", at)?;
        }
        if at.dialect >= Dialect::Draft2019 {
            let neighbours = parts.clone();
            for (keyword, of_items) in [("unevaluatedProperties", false), ("unevaluatedItems", true)] {
                if let Some(value) = object.get(keyword) {
                    let rest = self.below(value, keyword, at)?;
                    let node = self.push(Kind::Opaque(Types::ALL), keyword, at)?;
                    let contains_counts = at.dialect == Dialect::Draft2020;
                    let neighbours = neighbours.clone();
                    self.unevaluated.push(Pending { node, neighbours, rest, of_items, contains_counts });
                    parts.push(node);
                }
            }
        }
        Ok(())
    }

    fn opaque(
        &mut self,
        keyword: &'static str,
        types: Types,
        at: At,
        parts: &mut Vec<Id>,
    ) -> Result<(), SchemaError> {
        self.graph.relies_on_validator = true;
        parts.push(self.push(Kind::Opaque(types), keyword, at)?);
        Ok(())
    }

    fn reference(
        &mut self,
        reference: &'v str,
        keyword: &'static str,
        at: At,
        parts: &mut Vec<Id>,
    ) -> Result<(), SchemaError> {
        let node = self.push(Kind::Anything, keyword, at)?;
        self.references.push((node, reference, at));
        parts.push(node);
        Ok(())
    }

    fn below(&mut self, value: &'v Value, keyword: &'static str, at: At) -> Result<Id, SchemaError> {
        let place = self.place(at.place, keyword, None);
        self.schema(value, At { place, ..at })
    }

    /// Where draft 04 allows `true` and `false` too.
    fn below_lenient(&mut self, value: &'v Value, keyword: &'static str, at: At) -> Result<Id, SchemaError> {
        if let Value::Bool(accepts) = value {
            let place = self.place(at.place, keyword, None);
            return self.push(if *accepts { Kind::Anything } else { Kind::Nothing }, "", At { place, ..at });
        }
        self.below(value, keyword, at)
    }

    fn list(&mut self, list: &'v [Value], keyword: &'static str, at: At) -> Result<Vec<Id>, SchemaError> {
        let mut ids = Vec::with_capacity(list.len());
        for (number, value) in list.iter().enumerate() {
            let place = self.place(at.place, keyword, Some(&number.to_string()));
            ids.push(self.schema(value, At { place, ..at })?);
        }
        Ok(ids)
    }

    fn map(
        &self,
        object: &'v Object,
        keyword: &'static str,
        at: At,
    ) -> Result<Option<&'v Object>, SchemaError> {
        match object.get(keyword) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(_) => Err(self.wrong(at, keyword, "must be an object")),
        }
    }
}

/// The keyword as a name that outlives the schema.
fn known(keyword: &str) -> &'static str {
    const KEYWORDS: [&str; 16] = [
        "type",
        "enum",
        "const",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
        "format",
        "multipleOf",
        "uniqueItems",
        "required",
        "propertyNames",
        "not",
    ];
    KEYWORDS.iter().find(|known| **known == keyword).copied().unwrap_or_default()
}
