//! `metadata` of every kind.

use bailiwick_bundles::documents::phrony::{API_VERSION, Metadata, StringMap};
use bailiwick_bundles::{Diagnostic, Digest, code, escape};
use bailiwick_snapshots::{CanonicalError, Evidence, Framework, canonical_digest, members_digest};
use serde_json::{Map, Value};

use super::Place;
use crate::catalogs::YANKED;
use crate::manifest::Head;
use crate::session::Session;

pub(super) fn lower(
    session: &mut Session,
    place: Place<'_>,
    metadata: &Metadata,
    content: &Value,
) -> Option<Head> {
    let content_hash: Digest = match content_hash(content) {
        Ok(digest) => digest,
        Err(error) => {
            session.push(
                Diagnostic::new(&code::INEXACT_NUMBER, error.to_string())
                    .label(metadata.span, "in this document"),
            );
            return None;
        }
    };
    let boundaries = metadata
        .boundaries()
        .iter()
        .map(|boundary| (boundary.value.clone(), session.origin(boundary.span)))
        .collect();
    Some(Head {
        id: metadata.id(),
        version: metadata.version.value.clone(),
        home: place.home.clone(),
        origin: session.origin(metadata.name.span),
        evidence: evidence(metadata, content),
        boundaries,
        content_hash,
    })
}

/// The digest of a document without its version and its withdrawal: a version is recorded beside it wherever a hash
/// is, and a release that changes only the label must be recognised; to withdraw a version is not to change it.
fn content_hash(content: &Value) -> Result<Digest, CanonicalError> {
    let Value::Object(members) = content else { return canonical_digest(content) };
    let mut metadata = members.get("metadata").cloned();
    if let Some(Value::Object(metadata)) = &mut metadata {
        metadata.remove("version");
        if let Some(Value::Object(annotations)) = metadata.get_mut("annotations")
            && annotations.remove(YANKED).is_some()
            && annotations.is_empty()
        {
            metadata.remove("annotations");
        }
    }
    members_digest(members.iter().map(|(key, member)| {
        let own = metadata.as_ref().filter(|_| key == "metadata");
        (key.as_str(), own.unwrap_or(member))
    }))
}

fn evidence(metadata: &Metadata, content: &Value) -> Evidence {
    let mut extensions = Map::new();
    collect_extensions(content, "", &mut extensions);
    let governance = metadata.governance.as_ref();
    let mut classifications: Vec<String> = governance
        .iter()
        .flat_map(|governance| &governance.classifications)
        .map(|classification| classification.value.clone())
        .collect();
    classifications.sort();
    classifications.dedup();
    Evidence {
        dialect: API_VERSION.to_owned(),
        owner: metadata.owner.as_ref().map(|owner| owner.value.clone()),
        labels: strings(metadata.labels.as_ref()),
        annotations: strings(metadata.annotations.as_ref()),
        risk_tier: governance
            .and_then(|governance| governance.risk_tier.as_ref())
            .map(|tier| tier.value.clone()),
        classifications,
        frameworks: governance
            .and_then(|governance| governance.frameworks.as_ref())
            .iter()
            .flat_map(|frameworks| &frameworks.0)
            .map(|framework| {
                let payload = framework.payload.to_json();
                (framework.pack.value.clone(), Framework { payload, validated: framework.validated })
            })
            .collect(),
        extensions,
    }
}

/// The `x-` keys of a document by JSON pointer. What people write as they like (schemas, options, payloads) has keys of
/// its own, which are not ours to pick from.
fn collect_extensions(value: &Value, pointer: &str, found: &mut Map<String, Value>) {
    const OPAQUE: [&str; 8] =
        ["inline", "provider_options", "runtime", "frameworks", "value", "allow", "labels", "annotations"];
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let pointer = format!("{pointer}/{}", escape(key));
                if key.starts_with("x-") {
                    found.insert(pointer, value.clone());
                } else if !OPAQUE.contains(&key.as_str()) {
                    collect_extensions(value, &pointer, found);
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect_extensions(item, &format!("{pointer}/{at}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn strings(map: Option<&StringMap>) -> std::collections::BTreeMap<String, String> {
    map.iter().flat_map(|map| &map.0).map(|(key, value)| (key.value.clone(), value.value.clone())).collect()
}
