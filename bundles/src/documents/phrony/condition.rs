//! The condition tree of a Policy, as written.
//!
//! A leaf is `field`, `op`, `value`; an inner node is exactly one of `all`, `any`, `not`. Anything else is a fault:
//! a condition that is half understood would make a policy apply to calls it does not mean, or not apply at all.

use super::field::Field;
use crate::decode::{Decode, Decoder, document, keywords, none_refused, refuse_ambiguous};
use crate::diagnostics::{Diagnostic, code};
use crate::node::{Node, NodeValue};
use crate::source::{Span, Spanned};

document! {
    /// Every key a condition may have, before the exclusions are checked.
    struct ConditionFields as "a condition", refusing none_refused {
        /// All of these.
        "all" => all: Option<Conditions>,
        /// At least one of these.
        "any" => any: Option<Conditions>,
        /// Not this.
        "not" => not: Option<Box<ConditionDoc>>,
        /// Dotted path into the arguments, or a dispatch field.
        "field" => field: Option<Spanned<String>>,
        /// How it is compared.
        "op" => op: Option<Spanned<Operator>>,
        /// With what.
        "value" => value: Option<Node>,
    }
}

/// Conditions joined by `all` or `any`.
type Conditions = Vec<ConditionDoc>;

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionDoc {
    /// True when all are.
    All(Vec<Self>, Span),
    /// True when one is.
    Any(Vec<Self>, Span),
    /// True when the inner one is false.
    Not(Box<Self>, Span),
    /// A comparison.
    Leaf(Leaf),
}

/// A comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Dotted path into the arguments, or a dispatch field.
    pub field: Spanned<String>,
    /// How.
    pub op: Spanned<Operator>,
    /// With what; absent only with `exists`.
    pub value: Option<Node>,
    /// The whole leaf.
    pub span: Span,
}

keywords! {
    /// How a leaf compares.
    pub enum Operator as "operator" {
        /// JSON equality.
        Eq = "eq",
        /// Its opposite.
        Neq = "neq",
        /// Greater than.
        Gt = "gt",
        /// At least.
        Gte = "gte",
        /// Less than.
        Lt = "lt",
        /// At most.
        Lte = "lte",
        /// Equal to one of a list.
        In = "in",
        /// Equal to none of a list.
        NotIn = "not_in",
        /// A regular expression finds something in it.
        Matches = "matches",
        /// A string has it as a part, a list as an element.
        Contains = "contains",
        /// A string begins with it.
        StartsWith = "starts_with",
        /// A string ends with it.
        EndsWith = "ends_with",
        /// It is there (`true`) or not (`false`).
        Exists = "exists",
    }
}

/// How many conditions may be inside each other.
pub const MAX_CONDITION_DEPTH: usize = 32;

/// How many comparisons a condition may have.
pub const MAX_TERMS: usize = 256;

impl ConditionDoc {
    /// Says where a condition is deeper or longer than what is evaluated.
    pub(super) fn check_size(&self, cx: &mut Decoder<'_>) {
        let mut n_terms = 0;
        let mut pending = vec![(self, 1)];
        while let Some((condition, depth)) = pending.pop() {
            if depth > MAX_CONDITION_DEPTH {
                cx.push(
                    Diagnostic::new(
                        &code::INVALID_CONDITION,
                        format!("more than {MAX_CONDITION_DEPTH} conditions inside each other"),
                    )
                    .label(condition.span(), "one too many")
                    .help("flatten it: `all` in `all` and `any` in `any` are one list"),
                );
                return;
            }
            match condition {
                Self::All(inner, _) | Self::Any(inner, _) => {
                    pending.extend(inner.iter().rev().map(|inner| (inner, depth + 1)));
                }
                Self::Not(inner, _) => pending.push((inner, depth + 1)),
                Self::Leaf(leaf) => {
                    n_terms += 1;
                    if n_terms > MAX_TERMS {
                        cx.push(
                            Diagnostic::new(
                                &code::INVALID_CONDITION,
                                format!("more than {MAX_TERMS} comparisons in one condition"),
                            )
                            .label(leaf.span, "one too many")
                            .help("compare with a list by `in`, or divide the policy"),
                        );
                        return;
                    }
                }
            }
        }
    }

    /// Every comparison, in the order written.
    pub fn leaves(&self) -> Vec<&Leaf> {
        let mut leaves = Vec::new();
        let mut pending = vec![self];
        while let Some(condition) = pending.pop() {
            match condition {
                Self::All(inner, _) | Self::Any(inner, _) => pending.extend(inner.iter().rev()),
                Self::Not(inner, _) => pending.push(inner),
                Self::Leaf(leaf) => leaves.push(leaf),
            }
        }
        leaves
    }

    /// The whole condition.
    pub fn span(&self) -> Span {
        match self {
            Self::All(_, span) | Self::Any(_, span) | Self::Not(_, span) => *span,
            Self::Leaf(leaf) => leaf.span,
        }
    }
}

impl Decode for ConditionDoc {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let entries = node.as_mapping();
        let inner: Vec<_> = ["all", "any", "not"].iter().filter_map(|key| node.entry(key)).collect();
        let leaf: Vec<_> = ["field", "op", "value"].iter().filter_map(|key| node.entry(key)).collect();
        let before = cx.diagnostics.len();
        let fields = ConditionFields::decode(node, cx)?;
        let complain = |cx: &mut Decoder<'_>, message: String, span: Span, text: &str, help: &str| {
            cx.push(Diagnostic::new(&code::INVALID_CONDITION, message).label(span, text).help(help));
            None
        };
        match (inner.as_slice(), leaf.as_slice()) {
            ([], []) => {
                if cx.diagnostics.len() == before {
                    let span = entries.map_or(node.span, |entries| crate::decode::head(node, entries));
                    return complain(
                        cx,
                        "a condition says nothing".to_owned(),
                        span,
                        "empty",
                        "write `field`, `op` and `value`, or one of `all`, `any`, `not`",
                    );
                }
                None
            }
            ([_, (second, _), ..], _) => complain(
                cx,
                "a condition holds one of `all`, `any` and `not`".to_owned(),
                second.span,
                "a second one",
                "nest one in the other, so that it is clear which comes first",
            ),
            ([(key, _)], [(other, _), ..]) => complain(
                cx,
                format!("a condition is a comparison or `{}`, not both", key.value),
                other.span,
                "belongs to a comparison",
                "make the comparison an item of `all`",
            ),
            ([(key, value)], []) => {
                if let NodeValue::Sequence(items) = &value.value
                    && items.is_empty()
                {
                    return complain(
                        cx,
                        format!("`{}` of nothing is always {}", key.value, key.value == "all"),
                        value.span,
                        "empty",
                        "list at least one condition, or leave `conditions` out",
                    );
                }
                let all = fields.all.map(|conditions| Self::All(conditions, node.span));
                let any = fields.any.map(|conditions| Self::Any(conditions, node.span));
                let not = fields.not.map(|condition| Self::Not(condition, node.span));
                // A child that failed would change what the condition means, so the whole fails with it.
                (cx.diagnostics.len() == before).then_some(all.or(any).or(not)).flatten()
            }
            ([], _) => decode_leaf(node, fields.field, fields.op, fields.value, cx),
        }
    }
}

fn decode_leaf(
    node: &Node,
    field: Option<Spanned<String>>,
    op: Option<Spanned<Operator>>,
    value: Option<Node>,
    cx: &mut Decoder<'_>,
) -> Option<ConditionDoc> {
    for key in ["field", "op"] {
        if node.get(key).is_none() {
            cx.push(
                Diagnostic::new(&code::INVALID_CONDITION, format!("a comparison has no `{key}`"))
                    .label(node.span, format!("`{key}` is missing here"))
                    .help("write all of `field`, `op` and `value`"),
            );
        }
    }
    let (field, op) = (field?, op?);
    if let Some(value) = &value {
        refuse_ambiguous(value, &mut cx.diagnostics);
    }
    let wanted = match (op.value, value.as_ref().map(|node| &node.value)) {
        (Operator::Exists, None | Some(NodeValue::Bool(_))) => None,
        (Operator::Exists, Some(_)) => Some("`true`, `false`, or no `value`"),
        (_, None) => Some("a `value`"),
        (Operator::In | Operator::NotIn, Some(NodeValue::Sequence(items))) if !items.is_empty() => None,
        (Operator::In | Operator::NotIn, Some(NodeValue::Sequence(_))) => Some("at least one value"),
        (Operator::In | Operator::NotIn, Some(_)) => Some("a list"),
        (Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte, Some(NodeValue::Number(_))) => None,
        (Operator::Gt | Operator::Gte | Operator::Lt | Operator::Lte, Some(_)) => Some("a number"),
        (Operator::Matches | Operator::StartsWith | Operator::EndsWith, Some(NodeValue::String(_))) => None,
        (Operator::Matches | Operator::StartsWith | Operator::EndsWith, Some(_)) => Some("a string"),
        (Operator::Eq | Operator::Neq | Operator::Contains, Some(_)) => None,
    };
    if let Some(wanted) = wanted {
        let span = value.as_ref().map_or(op.span, |node| node.span);
        cx.push(
            Diagnostic::new(&code::INVALID_CONDITION, format!("`{}` compares with {wanted}", op.value))
                .label(span, format!("should be {wanted}")),
        );
        return None;
    }
    match field.value.parse() {
        Ok(Field::Dispatch) => {
            if !check_dispatch(&field.value, &op, value.as_ref(), cx) {
                return None;
            }
        }
        Ok(Field::Argument(_)) => {}
        Err(problem) => {
            cx.push(
                Diagnostic::new(
                    &code::INVALID_CONDITION,
                    format!("`{}` is no path into the arguments", field.value),
                )
                .label(field.span, problem.to_string())
                .help("write names joined by dots, with `[*]` for the elements of a list: `items[*].price`"),
            );
            return None;
        }
    }
    Some(ConditionDoc::Leaf(Leaf { field, op, value, span: node.span }))
}

/// What a dispatch field can be.
pub const DISPATCH_VALUES: [&str; 5] = [
    "dispatch:no_handler",
    "dispatch:capacity_exhausted",
    "dispatch:lease_expired",
    "dispatch:indeterminate",
    "limit:escalate",
];

/// A value that a dispatch never has would make a rule that never applies. Whether there is none.
fn check_dispatch(field: &str, op: &Spanned<Operator>, value: Option<&Node>, cx: &mut Decoder<'_>) -> bool {
    let before = cx.diagnostics.len();
    let listed = match (op.value, value) {
        (Operator::Exists, _) | (_, None) => return true,
        (Operator::In | Operator::NotIn, Some(value)) => value.as_sequence().unwrap_or_default(),
        (Operator::Eq | Operator::Neq, Some(value)) => std::slice::from_ref(value),
        (
            Operator::Gt
            | Operator::Gte
            | Operator::Lt
            | Operator::Lte
            | Operator::Matches
            | Operator::Contains
            | Operator::StartsWith
            | Operator::EndsWith,
            Some(_),
        ) => {
            cx.push(
                Diagnostic::new(
                    &code::INVALID_CONDITION,
                    format!("`{field}` is one of a few words, and `{}` is not for those", op.value),
                )
                .label(op.span, "should be `eq`, `neq`, `in`, `not_in` or `exists`"),
            );
            return false;
        }
    };
    for item in listed {
        let text = item.as_str().unwrap_or_default();
        let short = field == "dispatch.outcome" && text == "indeterminate";
        if !short && !DISPATCH_VALUES.contains(&text) {
            let near = crate::names::nearest(text, DISPATCH_VALUES);
            let said = crate::names::did_you_mean(near, "never happens");
            cx.push(
                Diagnostic::new(&code::INVALID_CONDITION, format!("`{field}` is never `{text}`"))
                    .label(item.span, said)
                    .help(format!("one of: {}", DISPATCH_VALUES.join(", "))),
            );
        }
    }
    cx.diagnostics.len() == before
}

impl schemars::JsonSchema for ConditionDoc {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let fields = generator.subschema_for::<ConditionFields>();
        schemars::json_schema!({
            "allOf": [fields],
            "oneOf": [
                { "required": ["all"] },
                { "required": ["any"] },
                { "required": ["not"] },
                { "required": ["field", "op"] }
            ],
            "properties": { "all": { "minItems": 1 }, "any": { "minItems": 1 } }
        })
    }
}
