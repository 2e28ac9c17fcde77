//! What happens when a policy applies.

use bailiwick_bundles::BoundaryId;
use bailiwick_bundles::documents::phrony::{DecisionType, OnModify, OnReject, TimeoutDefault};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What happens when a policy applies. What is not written stays absent: a default is the evaluator's to take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The kind of decision.
    #[serde(rename = "type")]
    pub kind: DecisionType,
    /// The boundary it implements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority_ref: Option<BoundaryId>,
    /// How many people must agree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approvals_required: Option<u64>,
    /// What happens when nobody answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
    /// What happens when somebody says no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_reject: Option<OnReject>,
    /// What happens when somebody edits the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_modify: Option<OnModify>,
    /// Whether the approver must show that the request was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comprehension_required: Option<bool>,
    /// Shown to people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Carried unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Value>,
}

/// What happens when nobody answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeout {
    /// Minutes to wait.
    pub after_minutes: u64,
    /// What then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<TimeoutDefault>,
}

impl Decision {
    /// The decision `kind` and nothing else.
    pub fn bare(kind: DecisionType) -> Self {
        Self {
            kind,
            authority_ref: None,
            approvals_required: None,
            timeout: None,
            on_reject: None,
            on_modify: None,
            comprehension_required: None,
            reason: None,
            runtime: None,
        }
    }
}
