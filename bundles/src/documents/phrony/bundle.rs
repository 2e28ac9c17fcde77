//! `kind: Bundle`: a closure of agents with one root.

use super::{Kind, Metadata};
use crate::decode::{document, none_refused};
use crate::source::Spanned;

document! {
    /// A Bundle document.
    pub struct BundleDocument as "a Bundle", refusing none_refused {
        /// `phrony.com/v1`.
        "apiVersion" => api_version: Spanned<String>,
        /// `Bundle`.
        "kind" => kind: Spanned<Kind>,
        /// Who it is.
        "metadata" => metadata: Metadata,
        /// Where its root is.
        "spec" => spec: BundleSpec,
    }
}

document! {
    /// Where the root is.
    pub struct BundleSpec as "a Bundle's `spec`", refusing none_refused {
        /// Bundle-relative path of the root Agent.
        "root" => root: Spanned<String>,
    }
}
