//! The spanned tree that YAML and JSON texts are read into.
//!
//! Both readers give the same tree, so nothing after them knows which one ran. What the strict profile refuses
//! (anchors, tags, merge keys, duplicate keys, numbers that JSON cannot hold) cannot be in a tree.

use std::borrow::Cow;

use crate::source::{Span, Spanned};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The place of the value.
    pub span: Span,
    /// What it is.
    pub value: NodeValue,
}

/// What a [`Node`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that JSON holds exactly. Where a string is due, its text is under the span.
    Number(serde_json::Number),
    /// Text. See [`Text`].
    String(Text),
    /// A list.
    Sequence(Vec<Node>),
    /// Key and value in the order written; keys are unique.
    Mapping(Vec<(Spanned<String>, Node)>),
}

/// A string, and whether it was written in a way that other YAML readers take for something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The string.
    pub text: String,
    /// An unquoted YAML scalar such as `no`, `on`, `010` or `1_000`: a string here, something else elsewhere.
    pub ambiguous: bool,
}

impl Node {
    /// What the value is called in a message.
    pub fn describe(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "nothing",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(_) => "a number",
            NodeValue::String(_) => "a string",
            NodeValue::Sequence(_) => "a list",
            NodeValue::Mapping(_) => "a map",
        }
    }

    /// The entries of a map.
    pub fn as_mapping(&self) -> Option<&[(Spanned<String>, Self)]> {
        match &self.value {
            NodeValue::Mapping(entries) => Some(entries),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::String(_)
            | NodeValue::Sequence(_) => None,
        }
    }

    /// The items of a list.
    pub fn as_sequence(&self) -> Option<&[Self]> {
        match &self.value {
            NodeValue::Sequence(items) => Some(items),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::String(_)
            | NodeValue::Mapping(_) => None,
        }
    }

    /// The string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            NodeValue::String(text) => Some(&text.text),
            NodeValue::Null
            | NodeValue::Bool(_)
            | NodeValue::Number(_)
            | NodeValue::Sequence(_)
            | NodeValue::Mapping(_) => None,
        }
    }

    /// The value at `key` of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_mapping()?.iter().find(|(k, _)| k.value == key).map(|(_, node)| node)
    }

    /// The key and value at `key` of a map.
    pub fn entry(&self, key: &str) -> Option<&(Spanned<String>, Self)> {
        self.as_mapping()?.iter().find(|(k, _)| k.value == key)
    }

    /// The node at a JSON pointer (RFC 6901).
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        let (node, rest) = self.walk(pointer);
        rest.is_empty().then_some(node)
    }

    /// The deepest node on the way along a JSON pointer, for pointing at what is there.
    pub fn nearest(&self, pointer: &str) -> &Self {
        self.walk(pointer).0
    }

    /// The span of key and value at a JSON pointer: of the value alone where the last step is no map key.
    pub fn entry_span(&self, pointer: &str) -> Span {
        let Some((parent, key)) = pointer.rsplit_once('/') else { return self.span };
        let key = unescape(key);
        match self.pointer(parent).and_then(|node| node.entry(&key)) {
            Some((key, value)) => key.span.to(value.span),
            None => self.nearest(pointer).span,
        }
    }

    fn walk<'p>(&self, pointer: &'p str) -> (&Self, &'p str) {
        let mut node = self;
        let mut rest = pointer;
        while let Some(tail) = rest.strip_prefix('/') {
            let (step, after) = tail.find('/').map_or((tail, ""), |at| tail.split_at(at));
            let next = match &node.value {
                NodeValue::Mapping(_) => node.get(&unescape(step)),
                NodeValue::Sequence(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) | NodeValue::String(_) => None,
            };
            match next {
                Some(next) => (node, rest) = (next, after),
                None => return (node, rest),
            }
        }
        (node, rest)
    }

    /// Calls `see` on every string in the value, keys left out, with its place.
    pub(crate) fn each_string(&self, see: &mut dyn FnMut(&Text, Span)) {
        match &self.value {
            NodeValue::String(text) => see(text, self.span),
            NodeValue::Sequence(items) => items.iter().for_each(|item| item.each_string(see)),
            NodeValue::Mapping(entries) => entries.iter().for_each(|(_, value)| value.each_string(see)),
            NodeValue::Null | NodeValue::Bool(_) | NodeValue::Number(_) => {}
        }
    }

    /// The same value without places. Members are sorted, whatever order maps of the JSON library keep: what is made of
    /// a value must not depend on the order in which somebody wrote it.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value;
        match &self.value {
            NodeValue::Null => Value::Null,
            NodeValue::Bool(value) => Value::Bool(*value),
            NodeValue::Number(number) => Value::Number(number.clone()),
            NodeValue::String(text) => Value::String(text.text.clone()),
            NodeValue::Sequence(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            NodeValue::Mapping(entries) => {
                let mut members: Vec<&(Spanned<String>, Self)> = entries.iter().collect();
                members.sort_unstable_by(|(a, _), (b, _)| a.value.cmp(&b.value));
                Value::Object(
                    members.into_iter().map(|(key, node)| (key.value.clone(), node.to_json())).collect(),
                )
            }
        }
    }
}

/// One step of a JSON pointer with `~1` and `~0` undone.
fn unescape(step: &str) -> Cow<'_, str> {
    if step.contains('~') {
        Cow::Owned(step.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(step)
    }
}

/// One step of a JSON pointer, escaped.
pub fn escape(step: &str) -> Cow<'_, str> {
    if step.contains(['~', '/']) {
        Cow::Owned(step.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(step)
    }
}
