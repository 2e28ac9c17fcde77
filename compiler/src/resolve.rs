//! Resolving: every reference becomes one document, and the agents become an acyclic closure.
//!
//! A logical reference is looked up in the bundle first, then in the catalog that owns its namespace. Documents of a
//! catalog are resolved in catalogs only: a bundle cannot change what a published agent means. The highest version
//! that satisfies is pinned; a pre-release only if asked for; a withdrawn one never, unless the lock already has it.
//!
//! Not here: whether what was found fits together (linking), or narrows (narrowing).

mod choose;
mod closure;

use std::collections::BTreeMap;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::Kind;
use bailiwick_bundles::{BoundaryId, Digest, LogicalId, Outcome, Version};
use bailiwick_snapshots::{DocumentKey, Snapshot};

use crate::bundle::Bundle;
use crate::catalogs::Catalogs;
use crate::lock::{Block, Lock};
use crate::manifest::{AgentManifest, Home, Manifest, PolicyManifest, ToolManifest};
use crate::origin::Origin;
use crate::session::Session;

/// Which edges lead where.
#[derive(Debug)]
pub(crate) struct Resolution {
    /// Agents in closure order: depth first, the root first.
    pub agents: Vec<ResolvedAgent>,
    /// Closures that were compiled before and are delegated to.
    pub frozen: Vec<Arc<Snapshot>>,
    /// The keys of all agents, frozen ones included, in closure order.
    pub members: Vec<DocumentKey>,
    /// A single tool or policy that is published.
    pub contract: Option<Manifest>,
    /// Tools by key.
    pub tools: BTreeMap<DocumentKey, ResolvedTool>,
    /// Every document that was chosen, and for whom.
    pub choices: Vec<Choice>,
}

/// An agent and what its references lead to.
#[derive(Debug)]
pub(crate) struct ResolvedAgent {
    /// The agent.
    pub manifest: Arc<AgentManifest>,
    /// By binding: the tool, unless it is backed by MCP or was not found.
    pub tools: Vec<Option<DocumentKey>>,
    /// By binding: its own policies.
    pub binding_policies: Vec<Vec<Arc<PolicyManifest>>>,
    /// By delegation: the agent, unless it is late-bound or was not found.
    pub delegates: Vec<Option<DocumentKey>>,
    /// By delegation: its own policies.
    pub delegation_policies: Vec<Vec<Arc<PolicyManifest>>>,
    /// Policies for every binding.
    pub default_policies: Vec<Arc<PolicyManifest>>,
    /// The policies that implement each of its boundaries.
    pub boundaries: Vec<(BoundaryId, Origin, Vec<Arc<PolicyManifest>>)>,
}

/// A tool and what its references lead to.
#[derive(Debug)]
pub(crate) struct ResolvedTool {
    /// The tool.
    pub manifest: Arc<ToolManifest>,
    /// Its default policies.
    pub default_policies: Vec<Arc<PolicyManifest>>,
    /// What the paths among its default policies lead to.
    pub policy_paths: BTreeMap<String, DocumentKey>,
    /// The policies that implement each of its boundaries.
    pub boundaries: Vec<(BoundaryId, Origin, Vec<Arc<PolicyManifest>>)>,
}

/// One document, chosen for one reference.
#[derive(Clone, Debug)]
pub struct Choice {
    /// What it is.
    pub kind: Kind,
    /// What was asked for.
    pub id: LogicalId,
    /// Which versions would have done; `None` where the reference is a path or has no constraint.
    pub constraint: Option<String>,
    /// Whether the reference chose among versions, rather than naming a file.
    pub by_name: bool,
    /// What was chosen.
    pub version: Version,
    /// Where it comes from.
    pub home: Home,
    /// Digest of the document.
    pub content_hash: Digest,
    /// Where it was asked for.
    pub asked_at: Vec<Origin>,
    /// The other versions there are, and why each was passed over; highest first.
    pub passed_over: Vec<PassedOver>,
    /// Whether the lock decided.
    pub locked: bool,
    /// What the lock had, where that no longer satisfies.
    pub moved_from: Option<Version>,
}

/// A version that was not chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassedOver {
    /// The version.
    pub version: Version,
    /// Why: `outside ^1.0`, `pre-release`, `yanked: wrong unit`, `lower`, `not locked`.
    pub why: String,
}

/// How to resolve.
#[derive(Clone, Debug)]
pub(crate) struct ResolveOptions {
    /// What was pinned before.
    pub lock: Lock,
    /// Whether a changed digest behind a kept pin is accepted, as `lock --update` does for the ids it names.
    pub trust: Vec<LogicalId>,
    /// Whether every changed digest is accepted.
    pub trust_all: bool,
}

impl Resolution {
    /// The lock of this resolution.
    pub(crate) fn lock(&self) -> Lock {
        let mut blocks: BTreeMap<(Kind, DocumentKey), Block> = BTreeMap::new();
        for choice in &self.choices {
            let key = (choice.kind, DocumentKey::new(choice.id.clone(), choice.version.clone()));
            let block = blocks.entry(key).or_insert_with(|| Block {
                kind: choice.kind,
                id: choice.id.clone(),
                version: choice.version.clone(),
                from: choice.home.to_string(),
                constraints: Vec::new(),
                content_hash: choice.content_hash,
            });
            if choice.by_name {
                block.constraints.push(choice.constraint.clone().unwrap_or_else(|| "*".to_owned()));
            }
        }
        Lock::new(blocks.into_values().map(|mut block| {
            block.constraints.sort();
            block.constraints.dedup();
            block
        }))
    }
}

/// Resolves everything that `bundle` refers to, from its root.
pub(crate) fn resolve(
    session: &mut Session,
    bundle: &Bundle,
    catalogs: &mut Catalogs,
    options: &ResolveOptions,
) -> Outcome<Resolution> {
    let before = session.diagnostics.len();
    let value = closure::walk(session, bundle, catalogs, options);
    Outcome::new(value, session.diagnostics.split_off(before))
}
