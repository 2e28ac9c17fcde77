//! A node of one of the two schemas that must, or must not, hold.

use crate::node::Id;
use crate::verdict::Side;

/// Packed so that states are cheap to compare and a literal sorts beside its negation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Literal(u32);

impl Literal {
    pub(crate) fn new(side: Side, id: Id) -> Self {
        Self(id << 2 | u32::from(side == Side::Outer) << 1)
    }

    /// Another node of the same schema, asserted.
    pub(crate) fn sibling(self, id: Id) -> Self {
        Self::new(self.side(), id)
    }

    pub(crate) fn negated(self) -> Self {
        Self(self.0 ^ 1)
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn id(self) -> Id {
        self.0 >> 2
    }

    pub(crate) fn side(self) -> Side {
        if self.0 & 2 == 0 { Side::Inner } else { Side::Outer }
    }
}

/// Whether a sorted state holds a literal and its negation.
pub(crate) fn contradict(state: &[Literal]) -> bool {
    state.iter().zip(state.iter().skip(1)).any(|(left, right)| left.negated() == *right)
}
