//! Where things were written, kept apart from what they are.
//!
//! Later stages carry an [`Origin`], an index without meaning of its own, so that comparing and hashing what they
//! compute can never see a place.

use bailiwick_bundles::Span;

/// A place in [`Origins`].
#[derive(Clone, Copy, Debug)]
pub struct Origin(u32);

impl Origin {
    /// Of things that no text is behind.
    pub const NOWHERE: Self = Self(u32::MAX);
}

/// Places by [`Origin`].
#[derive(Debug, Default)]
pub struct Origins {
    spans: Vec<Span>,
}

impl Origins {
    /// Remembers `span`.
    pub fn add(&mut self, span: Span) -> Origin {
        let at = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        self.spans.push(span);
        Origin(at)
    }

    /// The place; `None` for [`Origin::NOWHERE`].
    pub fn span(&self, origin: Origin) -> Option<Span> {
        self.spans.get(origin.0 as usize).copied()
    }
}
