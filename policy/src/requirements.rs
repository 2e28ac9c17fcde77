//! What several policies that apply to one call ask for together.
//!
//! Laws: the order of the policies does not matter, one that is merged twice changes nothing, and the merged
//! requirements are at least as strict as each of them.

use bailiwick_bundles::BoundaryId;
use bailiwick_bundles::documents::phrony::{OnModify, OnReject, TimeoutDefault};
use serde::Serialize;
use serde_json::Value;

use crate::{Decision, PolicyId};

/// What must happen before a call goes ahead: the strictest of what each policy asks for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Requirements {
    /// How many people must agree.
    pub approvals_required: u64,
    /// Whether the approver must show that the request was understood.
    pub comprehension_required: bool,
    /// What happens when nobody answers; absent where no policy sets a time. A policy without a timeout never lets a
    /// call go ahead unanswered, and neither does the merged one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<MergedTimeout>,
    /// What happens when somebody says no: the agent is told only where every policy says so.
    pub on_reject: OnReject,
    /// What happens to edited arguments: taken as they are only where every policy says so.
    pub on_modify: OnModify,
    /// Who asks, sorted.
    pub asked_by: Vec<Asker>,
}

/// What happens when nobody answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MergedTimeout {
    /// Minutes to wait.
    pub after_minutes: u64,
    /// What then.
    pub default: TimeoutDefault,
}

/// A policy among those that ask, with what is kept beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Asker {
    /// Which.
    pub policy: PolicyId,
    /// The boundary it implements.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authority_ref: Option<BoundaryId>,
    /// Shown to people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Carried unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Value>,
}

impl Requirements {
    /// What one policy asks for. What it leaves out is read as the stricter choice.
    pub fn of(policy: &PolicyId, decision: &Decision) -> Self {
        Self {
            approvals_required: decision.approvals_required.unwrap_or(1),
            comprehension_required: decision.comprehension_required.unwrap_or(false),
            timeout: decision.timeout.as_ref().map(|timeout| MergedTimeout {
                after_minutes: timeout.after_minutes,
                default: timeout.default.unwrap_or(TimeoutDefault::Deny),
            }),
            on_reject: decision.on_reject.unwrap_or(OnReject::Fail),
            on_modify: decision.on_modify.unwrap_or(OnModify::Revalidate),
            asked_by: vec![Asker {
                policy: policy.clone(),
                authority_ref: decision.authority_ref.clone(),
                reason: decision.reason.clone(),
                runtime: decision.runtime.clone(),
            }],
        }
    }

    /// What both ask for.
    pub fn merge(mut self, other: Self) -> Self {
        self.asked_by.extend(other.asked_by);
        self.asked_by.sort_by(|a, b| a.policy.cmp(&b.policy));
        self.asked_by.dedup_by(|a, b| a.policy == b.policy);
        Self {
            approvals_required: self.approvals_required.max(other.approvals_required),
            comprehension_required: self.comprehension_required || other.comprehension_required,
            timeout: merge_timeouts(self.timeout, other.timeout),
            on_reject: match (self.on_reject, other.on_reject) {
                (OnReject::ReturnToAgent, OnReject::ReturnToAgent) => OnReject::ReturnToAgent,
                (OnReject::Fail, _) | (_, OnReject::Fail) => OnReject::Fail,
            },
            on_modify: match (self.on_modify, other.on_modify) {
                (OnModify::Accept, OnModify::Accept) => OnModify::Accept,
                (OnModify::Revalidate, _) | (_, OnModify::Revalidate) => OnModify::Revalidate,
            },
            asked_by: self.asked_by,
        }
    }
}

/// The shortest time; a policy without one would wait for ever, so after the time of another the call is not made.
fn merge_timeouts(a: Option<MergedTimeout>, b: Option<MergedTimeout>) -> Option<MergedTimeout> {
    let strictness = |default: TimeoutDefault| match default {
        TimeoutDefault::Allow => 0,
        TimeoutDefault::Escalate => 1,
        TimeoutDefault::Deny => 2,
    };
    match (a, b) {
        (None, None) => None,
        (Some(only), None) | (None, Some(only)) => {
            Some(MergedTimeout { default: TimeoutDefault::Deny, ..only })
        }
        (Some(a), Some(b)) => Some(MergedTimeout {
            after_minutes: a.after_minutes.min(b.after_minutes),
            default: if strictness(a.default) >= strictness(b.default) { a.default } else { b.default },
        }),
    }
}
