//! The three values of a condition (Kleene's strong logic).

/// Whether a condition holds for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not.
    False,
    /// An argument that it compares is absent, or of a type that it does not compare.
    Unknown,
    /// It does.
    True,
}

impl Truth {
    /// Both.
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// At least one.
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// True or unknown: the reading under which a policy that restricts applies.
    pub fn is_possible(self) -> bool {
        self != Self::False
    }
}

impl std::ops::Not for Truth {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}
