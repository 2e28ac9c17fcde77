//! The digest of what a document is apart from its version.
//!
//! A release that changes nothing but its label has the content of another one, and the identity rules say so. The
//! digest is of the canonical text in which the version of `identity` is empty and every text or key
//! `NAMESPACE.NAME@VERSION` of the document itself is `NAMESPACE.NAME`. Nothing is sorted anew, so it is a matter of
//! replacing text: in canonical JSON a quotation mark inside a string, and no other, stands behind a backslash, so a
//! whole string is found exactly.

use bailiwick_bundles::{Digest, LogicalId, Version};

/// The content digest of the canonical `bytes` of the document `id` at `version`.
pub fn content_digest(bytes: &[u8], id: &LogicalId, version: &Version) -> Digest {
    let Ok(text) = std::str::from_utf8(bytes) else { return Digest::of(bytes) };
    let (name, namespace) = (id.name(), id.namespace());
    let identity = |version: &str| {
        format!(
            "\"identity\":{{\"name\":\"{name}\",\"namespace\":\"{namespace}\",\"version\":\"{version}\"}}"
        )
    };
    let label = version.to_string();
    let content = replace_whole(text, &identity(&label), &identity(""));
    Digest::of(replace_whole(&content, &format!("\"{id}@{label}\""), &format!("\"{id}\"")).as_bytes())
}

/// Replaces `whole`, which begins with a quotation mark, where that mark opens a string.
fn replace_whole(text: &str, whole: &str, with: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(whole) {
        replaced.push_str(before);
        replaced.push_str(if before.ends_with('\\') { whole } else { with });
        rest = after;
    }
    replaced + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::canonical::to_canonical;

    fn digest(version: &str, text: &str) -> Digest {
        let key = format!("a.b@{version}");
        let document = json!({
            "identity": { "namespace": "a", "name": "b", "version": version },
            "members": [key],
            "agents": { key: { "purpose": text } }
        });
        let bytes = to_canonical(&document).expect("canonical");
        content_digest(&bytes, &"a.b".parse().expect("an id"), &version.parse().expect("a version"))
    }

    #[test]
    fn only_the_label_is_left_out() {
        assert_eq!(digest("1.0.0", "x"), digest("1.0.1", "x"));
        assert_ne!(digest("1.0.0", "x"), digest("1.0.0", "y"));
        assert_ne!(digest("1.0.0", "a.b@1.0.1"), digest("1.0.1", "a.b@1.0.0"));
        // A quotation of the key is a part of a longer string, at its end as well.
        assert_ne!(digest("1.0.0", "see \"a.b@1.0.0"), digest("1.0.1", "see \"a.b@1.0.1"));
        assert_ne!(digest("1.0.0", "\"a.b@1.0.0\""), digest("1.0.1", "\"a.b@1.0.1\""));
    }
}
