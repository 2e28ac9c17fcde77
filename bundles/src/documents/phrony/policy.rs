//! `kind: Policy`: a rule about calls.

use super::{ConditionDoc, Kind, Metadata};
use crate::decode::{Count, Decode, Decoder, document, keywords, none_refused, refuse_ambiguous};
use crate::diagnostics::{Diagnostic, code};
use crate::names::{BoundaryId, LogicalId};
use crate::node::Node;
use crate::source::Spanned;

document! {
    /// A Policy document.
    pub struct PolicyDocument as "a Policy", refusing none_refused {
        /// `phrony.com/v1`.
        "apiVersion" => api_version: Spanned<String>,
        /// `Policy`.
        "kind" => kind: Spanned<Kind>,
        /// Who it is.
        "metadata" => metadata: Metadata,
        /// The rule.
        "spec" => spec: PolicySpec,
    }
}

document! {
    /// The rule.
    pub struct PolicySpec as "a Policy's `spec`", refusing none_refused {
        /// What it is for.
        "description" => description: Option<Spanned<String>>,
        /// Which calls it is about; absent means those of the binding it is attached to.
        "scope" => scope: Option<Spanned<Scope>>,
        /// When it applies; absent means always.
        "conditions" => conditions: Option<ConditionDoc>,
        /// Values allowed for the tool's one argument that is compared.
        "allow" => allow: Option<Spanned<Vec<Node>>>,
        /// What happens when it applies.
        "decision" => decision: DecisionDoc,
    }
}

/// Which calls a policy is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every call of the agent.
    Agent,
    /// The calls of one tool.
    Tool(LogicalId),
}

impl Decode for Scope {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let text = cx.string(node)?;
        if text == "agent" {
            return Some(Self::Agent);
        }
        let id = text.strip_prefix("tool:").and_then(|id| id.parse().ok());
        if id.is_none() {
            cx.push(
                Diagnostic::new(&code::INVALID_VALUE, format!("`{text}` is no scope"))
                    .label(node.span, "should be `agent` or `tool:namespace.name`"),
            );
        }
        id.map(Self::Tool)
    }
}

impl schemars::JsonSchema for Scope {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scope".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^(agent|tool:[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+)$" })
    }
}

document! {
    /// What happens when a policy applies.
    pub struct DecisionDoc as "`decision`", refusing none_refused {
        /// The kind of decision.
        "type" => kind: Spanned<DecisionType>,
        /// The boundary it implements.
        "authority_ref" => authority_ref: Option<Spanned<BoundaryId>>,
        /// How many people must agree.
        "approvals_required" => approvals_required: Option<Spanned<Count>>,
        /// What happens when nobody answers.
        "timeout" => timeout: Option<Timeout>,
        /// What happens when somebody says no.
        "on_reject" => on_reject: Option<Spanned<OnReject>>,
        /// What happens when somebody edits the arguments.
        "on_modify" => on_modify: Option<Spanned<OnModify>>,
        /// Whether the approver must show that the request was understood.
        "comprehension_required" => comprehension_required: Option<Spanned<bool>>,
        /// Shown to people.
        "reason" => reason: Option<Spanned<String>>,
        /// Carried unchanged, never needed to decide.
        "runtime" => runtime: Option<Node>,
    }
}

keywords! {
    /// The kind of a decision, in the order of restrictiveness.
    pub enum DecisionType as "decision" {
        /// The call goes ahead.
        Allow = "allow",
        /// People must agree first.
        RequireApproval = "require_approval",
        /// A higher authority decides.
        Escalate = "escalate",
        /// The call does not happen.
        Deny = "deny" | "block",
    }
}

document! {
    /// What happens when nobody answers.
    pub struct Timeout as "`timeout`", refusing none_refused {
        /// Minutes to wait.
        "after_minutes" => after_minutes: Spanned<Count>,
        /// What then.
        "default" => default: Option<Spanned<TimeoutDefault>>,
    }
}

keywords! {
    /// What happens after a timeout.
    pub enum TimeoutDefault as "timeout default" {
        /// The call does not happen.
        Deny = "deny",
        /// The call goes ahead.
        Allow = "allow",
        /// A higher authority decides.
        Escalate = "escalate",
    }
}

keywords! {
    /// What happens to a rejected call.
    pub enum OnReject as "action on rejection" {
        /// The agent is told.
        ReturnToAgent = "return_to_agent",
        /// The run fails.
        Fail = "fail",
    }
}

keywords! {
    /// What happens to edited arguments.
    pub enum OnModify as "action on modification" {
        /// They are checked again.
        Revalidate = "revalidate",
        /// They are taken as they are.
        Accept = "accept",
    }
}

impl PolicyDocument {
    /// Checks what single fields cannot show.
    pub(super) fn check(&self, cx: &mut Decoder<'_>) {
        let spec = &self.spec;
        if let Some(conditions) = &spec.conditions {
            conditions.check_size(cx);
        }
        if let Some(allow) = &spec.allow {
            allow.value.iter().for_each(|value| refuse_ambiguous(value, &mut cx.diagnostics));
            if allow.value.is_empty() {
                cx.push(
                    Diagnostic::new(&code::INVALID_CONDITION, "a list of allowed values is empty")
                        .label(allow.span, "allows no call at all")
                        .help("list at least one value, or write `decision: { type: deny }`"),
                );
            }
            match &spec.scope {
                Some(Spanned { value: Scope::Tool(_), .. }) => {}
                Some(Spanned { value: Scope::Agent, span }) => cx.push(
                    Diagnostic::new(
                        &code::ALLOW_WITHOUT_SCOPE,
                        "`allow` lists values of one tool's argument",
                    )
                    .label(*span, "names no tool")
                    .help("set `scope: tool:namespace.name`, or write `conditions` with `in`"),
                ),
                None => cx.push(
                    Diagnostic::new(
                        &code::ALLOW_WITHOUT_SCOPE,
                        "`allow` lists values of one tool's argument",
                    )
                    .label(allow.span, "of which tool?")
                    .help("add `scope: tool:namespace.name`, or write `conditions` with `in`"),
                ),
            }
            if let Some(conditions) = &spec.conditions {
                cx.push(
                    Diagnostic::new(&code::EXCLUSIVE_FIELDS, "`allow` and `conditions` exclude each other")
                        .label(allow.span, "one condition")
                        .label(conditions.span(), "and another")
                        .help("write the values as a condition with `in`"),
                );
            }
            if spec.decision.kind.value != DecisionType::Allow {
                cx.push(
                    Diagnostic::new(
                        &code::EXCLUSIVE_FIELDS,
                        "a list of allowed values needs the decision `allow`",
                    )
                    .label(spec.decision.kind.span, "should be `allow`")
                    .label(allow.span, "the values")
                    .help("set `type: allow`, or write `conditions`"),
                );
            }
        }
        if let Some(runtime) = &spec.decision.runtime {
            if runtime.as_mapping().is_none() {
                cx.wrong_type(runtime, "a map");
            }
            refuse_ambiguous(runtime, &mut cx.diagnostics);
        }
    }
}
