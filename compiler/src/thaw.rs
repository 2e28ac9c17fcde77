//! From a published snapshot back to what a bundle can refer to.
//!
//! A contract becomes a manifest that no text is behind; a closure stays as it was compiled.

use std::sync::Arc;

use bailiwick_bundles::documents::phrony::Reference;
use bailiwick_bundles::{Digest, SchemaSource};
use bailiwick_policy::{Policy, PolicyId};
use bailiwick_snapshots::{ArtifactKind, DocumentKey, PolicyRecord, Snapshot, Tool};

use crate::manifest::{Ask, Head, Home, Manifest, PolicyManifest, SideEffectCase, ToolManifest};
use crate::origin::Origin;

/// What a snapshot is to a bundle that refers to it.
#[derive(Debug)]
pub enum Thawed {
    /// One tool or policy.
    Contract(Manifest),
    /// An agent with all it calls.
    Closure(Arc<Snapshot>),
}

/// Thaws `snapshot`, which comes from the catalog `catalog`. A contract that lacks its document is a closure of
/// nothing, which no reference finds.
pub fn thaw(mut snapshot: Snapshot, catalog: &Arc<str>) -> Thawed {
    let identity = &snapshot.identity;
    let key = DocumentKey::new(identity.id(), identity.version.clone());
    let contract = match snapshot.kind {
        ArtifactKind::Tool => snapshot.tools.remove(&key).map(|tool| thaw_tool(&key, tool, catalog)),
        ArtifactKind::Policy => snapshot
            .policies
            .remove(&PolicyId::Document(key.id.clone(), key.version.clone()))
            .map(|record| thaw_policy(&key, record, catalog)),
        ArtifactKind::Agent | ArtifactKind::Bundle => None,
    };
    contract.map_or_else(|| Thawed::Closure(Arc::new(snapshot)), Thawed::Contract)
}

fn head(
    key: &DocumentKey,
    evidence: bailiwick_snapshots::Evidence,
    content_hash: Digest,
    boundaries: Vec<bailiwick_bundles::BoundaryId>,
    catalog: &Arc<str>,
) -> Head {
    Head {
        id: key.id.clone(),
        version: key.version.clone(),
        home: Home::Catalog(Arc::clone(catalog)),
        path: key.to_string(),
        origin: Origin::NOWHERE,
        evidence,
        boundaries: boundaries.into_iter().map(|boundary| (boundary, Origin::NOWHERE)).collect(),
        content_hash,
    }
}

fn thaw_tool(key: &DocumentKey, tool: Tool, catalog: &Arc<str>) -> Manifest {
    let default_policies = tool
        .default_policies
        .into_iter()
        .map(|policy| Ask {
            reference: Reference::Logical {
                id: policy.id,
                constraint: policy.constraint.and_then(|constraint| constraint.parse().ok()),
            },
            origin: Origin::NOWHERE,
        })
        .collect();
    Manifest::Tool(Arc::new(ToolManifest {
        head: head(key, tool.evidence, tool.content_hash, tool.boundaries, catalog),
        description: tool.description,
        class: (!tool.class_assumed).then_some(tool.side_effect_class),
        class_origin: Origin::NOWHERE,
        input: Arc::new(SchemaSource::synthetic(tool.input_schema)),
        output: tool.output_schema.map(|schema| Arc::new(SchemaSource::synthetic(schema))),
        default_policies,
        requires_capabilities: tool.requires_capabilities,
        strict: tool.strict,
        on_failure: tool.on_failure,
        terminal: tool.terminal,
        cases: tool
            .side_effect_cases
            .into_iter()
            .map(|case| SideEffectCase {
                when: Arc::new(SchemaSource::synthetic(case.when)),
                class: case.class,
            })
            .collect(),
    }))
}

fn thaw_policy(key: &DocumentKey, record: PolicyRecord, catalog: &Arc<str>) -> Manifest {
    let policy: Policy = record.rule;
    // INVARIANT: a published policy has its hash; one without is not the bytes that were published.
    let content_hash = policy.content_hash.unwrap_or_else(|| Digest::of(b""));
    Manifest::Policy(Arc::new(PolicyManifest {
        head: head(key, record.evidence, content_hash, policy.implements.clone(), catalog),
        policy,
        scope_origin: Origin::NOWHERE,
    }))
}
