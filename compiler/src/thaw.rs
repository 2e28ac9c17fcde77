//! From a published snapshot back to what a bundle can refer to.
//!
//! A contract becomes a manifest that no text is behind; a closure stays as it was compiled.

use std::sync::Arc;

use bailiwick_bundles::documents::phrony::Reference;
use bailiwick_bundles::{Constraint, Digest, SchemaSource};
use bailiwick_policy::{Condition, Policy, PolicyId, PreparedCondition};
use bailiwick_snapshots::{ArtifactKind, DocumentKey, PolicyRecord, Snapshot, Tool};

use crate::manifest::{
    Ask, ComparisonOrigin, Head, Home, Manifest, PolicyManifest, SideEffectCase, ToolManifest,
};
use crate::origin::Origin;

/// What a snapshot is to a bundle that refers to it.
#[derive(Debug)]
pub(crate) enum Thawed {
    /// One tool or policy.
    Contract(Manifest),
    /// An agent with all it calls.
    Closure(Arc<Snapshot>),
}

/// Thaws `snapshot`, which comes from the catalog `catalog`. A contract that lacks its document, or says what cannot be
/// read, is an error in words.
pub(crate) fn thaw(mut snapshot: Snapshot, catalog: &Arc<str>) -> Result<Thawed, String> {
    let identity = &snapshot.identity;
    let key = DocumentKey::new(identity.id(), identity.version.clone());
    let absent = || format!("it does not hold `{key}`");
    match snapshot.kind {
        ArtifactKind::Tool => {
            let tool = snapshot.tools.remove(&key).ok_or_else(absent)?;
            thaw_tool(&key, tool, catalog).map(Thawed::Contract)
        }
        ArtifactKind::Policy => {
            let id = PolicyId::Document(key.id.clone(), key.version.clone());
            let record = snapshot.policies.remove(&id).ok_or_else(absent)?;
            thaw_policy(&key, record, catalog).map(Thawed::Contract)
        }
        ArtifactKind::Agent | ArtifactKind::Bundle => {
            let whole = !snapshot.members.is_empty()
                && snapshot.members.iter().all(|member| snapshot.agents.contains_key(member));
            if whole {
                Ok(Thawed::Closure(Arc::new(snapshot)))
            } else {
                Err("an agent is missing".to_owned())
            }
        }
    }
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
        origin: Origin::NOWHERE,
        evidence,
        boundaries: boundaries.into_iter().map(|boundary| (boundary, Origin::NOWHERE)).collect(),
        content_hash,
    }
}

fn thaw_tool(key: &DocumentKey, tool: Tool, catalog: &Arc<str>) -> Result<Manifest, String> {
    let mut default_policies = Vec::with_capacity(tool.default_policies.len());
    for policy in tool.default_policies {
        let constraint = policy.constraint.map(|text| text.parse::<Constraint>()).transpose();
        let constraint = constraint.map_err(|error| error.to_string())?;
        let reference = Reference::Logical { id: policy.id, constraint };
        default_policies.push(Ask { reference, origin: Origin::NOWHERE });
    }
    Ok(Manifest::Tool(Arc::new(ToolManifest {
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
    })))
}

fn thaw_policy(key: &DocumentKey, record: PolicyRecord, catalog: &Arc<str>) -> Result<Manifest, String> {
    let policy: Policy = record.rule;
    let content_hash = policy.content_hash.ok_or("a policy has no `content_hash`")?;
    let condition = policy.conditions.as_ref().map(PreparedCondition::new).transpose();
    let condition = condition.map_err(|error| error.to_string())?;
    let nowhere = ComparisonOrigin { field: Origin::NOWHERE, op: Origin::NOWHERE };
    let comparisons = policy.conditions.iter().flat_map(Condition::comparisons).map(|_| nowhere).collect();
    Ok(Manifest::Policy(Arc::new(PolicyManifest {
        head: head(key, record.evidence, content_hash, policy.implements.clone(), catalog),
        policy,
        scope_origin: Origin::NOWHERE,
        condition,
        condition_origin: Origin::NOWHERE,
        comparisons,
    })))
}
