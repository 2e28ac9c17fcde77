//! What several policies that apply to one call ask for together.
//!
//! Laws: the order of the policies does not matter, one that is merged twice changes nothing, and the merged
//! requirements are at least as strict as each of them.

use bailiwick_bundles::BoundaryId;
use bailiwick_bundles::documents::phrony::{OnModify, OnReject, TimeoutDefault};
use serde::Serialize;
use serde_json::Value;

use crate::{Decision, PolicyId, Timeout};

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
    pub timeout: Option<Timeout>,
    /// What happens when somebody says no, where a policy says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_reject: Option<OnReject>,
    /// What happens to edited arguments: taken as they are only where every policy says so.
    pub on_modify: OnModify,
    /// Who asks, sorted.
    pub asked_by: Vec<Asker>,
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
            timeout: decision.timeout.as_ref().map(|timeout| Timeout {
                after_minutes: timeout.after_minutes,
                default: Some(timeout.default.unwrap_or(TimeoutDefault::Deny)),
            }),
            on_reject: decision.on_reject,
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
            on_reject: stricter(self.on_reject, other.on_reject, |action| match action {
                OnReject::ReturnToAgent => 0,
                OnReject::Fail => 1,
            }),
            on_modify: match (self.on_modify, other.on_modify) {
                (OnModify::Accept, OnModify::Accept) => OnModify::Accept,
                (OnModify::Revalidate, _) | (_, OnModify::Revalidate) => OnModify::Revalidate,
            },
            asked_by: self.asked_by,
        }
    }
}

/// The shortest time; a policy without one would wait for ever, so after the time of another the call is not made.
fn merge_timeouts(a: Option<Timeout>, b: Option<Timeout>) -> Option<Timeout> {
    let default = |timeout: &Timeout| timeout.default.unwrap_or(TimeoutDefault::Deny);
    match (a, b) {
        (None, None) => None,
        (Some(only), None) | (None, Some(only)) => {
            Some(Timeout { after_minutes: only.after_minutes, default: Some(TimeoutDefault::Deny) })
        }
        (Some(a), Some(b)) => Some(Timeout {
            after_minutes: a.after_minutes.min(b.after_minutes),
            default: stricter(Some(default(&a)), Some(default(&b)), |default| match default {
                TimeoutDefault::Allow => 0,
                TimeoutDefault::Escalate => 1,
                TimeoutDefault::Deny => 2,
            }),
        }),
    }
}

fn stricter<T: Copy>(a: Option<T>, b: Option<T>, strictness: impl Fn(T) -> u8) -> Option<T> {
    a.into_iter().chain(b).max_by_key(|choice| strictness(*choice))
}
