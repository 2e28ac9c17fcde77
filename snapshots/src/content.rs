//! The digest of what a document is apart from its version.
//!
//! A release that changes nothing but its label has the content of another one, and the identity rules say so.
//! `identity.version` is left out, and every text or key `NAMESPACE.NAME@VERSION` of the document itself becomes
//! `NAMESPACE.NAME`.

use bailiwick_bundles::Digest;
use serde_json::{Map, Value};

use crate::canonical::{CanonicalError, canonical_digest};

/// The content digest of a document with `identity`; without one, the digest of the whole.
pub fn content_digest(document: &Value) -> Result<Digest, CanonicalError> {
    let member = |pointer: &str| document.pointer(pointer).and_then(Value::as_str);
    let (Some(namespace), Some(name), Some(version)) =
        (member("/identity/namespace"), member("/identity/name"), member("/identity/version"))
    else {
        return canonical_digest(document);
    };
    let id = format!("{namespace}.{name}");
    let mut content = without(document, &format!("{id}@{version}"), &id);
    if let Some(Value::Object(identity)) = content.get_mut("identity") {
        identity.remove("version");
    }
    canonical_digest(&content)
}

/// `value` with `own` replaced by `id`. Canonical documents nest at most as deep as their writer allows.
fn without(value: &Value, own: &str, id: &str) -> Value {
    match value {
        Value::String(text) if text == own => Value::String(id.to_owned()),
        Value::Array(items) => Value::Array(items.iter().map(|item| without(item, own, id)).collect()),
        Value::Object(members) => {
            let renamed = |key: &String| if key == own { id.to_owned() } else { key.clone() };
            let members: Map<String, Value> =
                members.iter().map(|(key, value)| (renamed(key), without(value, own, id))).collect();
            Value::Object(members)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn document(version: &str, text: &str) -> Value {
        let key = format!("a.b@{version}");
        json!({
            "identity": { "namespace": "a", "name": "b", "version": version },
            "members": [key],
            "agents": { key: { "purpose": text } }
        })
    }

    #[test]
    fn only_the_label_is_left_out() {
        let digest = |version, text| content_digest(&document(version, text)).expect("canonical");
        assert_eq!(digest("1.0.0", "x"), digest("1.0.1", "x"));
        assert_ne!(digest("1.0.0", "x"), digest("1.0.0", "y"));
        assert_ne!(digest("1.0.0", "a.b@1.0.1"), digest("1.0.1", "a.b@1.0.0"));
    }
}
