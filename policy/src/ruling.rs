//! What is decided about a call.

use serde::Serialize;

use crate::PolicyId;
use crate::requirements::Requirements;

/// What is decided about a call, from the loosest to the strictest. [`Ruling::Error`] is a denial too.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Ruling {
    /// It may be made unattended.
    Allow,
    /// It may be made once people have agreed.
    RequireApproval {
        /// What they must do.
        requirements: Requirements,
    },
    /// A higher authority decides about it.
    Escalate {
        /// What it must do, and which policies ask.
        requirements: Requirements,
    },
    /// It may not be made.
    Deny {
        /// Why, at least one.
        reasons: Vec<DenyReason>,
    },
    /// It may not be made, since it could not be decided.
    Error {
        /// What went wrong, in words.
        message: String,
    },
}

/// Why a call may not be made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DenyReason {
    /// The policy that forbids it; absent where the arguments are no call at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyId>,
    /// Why, in words.
    pub message: String,
}

impl Ruling {
    /// Its word: `allow`, `require_approval`, `escalate`, `deny` or `error`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::RequireApproval { .. } => "require_approval",
            Self::Escalate { .. } => "escalate",
            Self::Deny { .. } => "deny",
            Self::Error { .. } => "error",
        }
    }

    /// How strict it is: 0 for `allow` to 3 for `deny` and `error`.
    pub fn strictness(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::RequireApproval { .. } => 1,
            Self::Escalate { .. } => 2,
            Self::Deny { .. } | Self::Error { .. } => 3,
        }
    }
}
