//! The closure of agents: depth first from the root, each agent once, never a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{Kind, Reference};
use bailiwick_bundles::{BoundaryId, Diagnostic, Digest, LogicalId, code};
use bailiwick_snapshots::{ArtifactKind, DocumentKey, Snapshot};

use super::choose::Chooser;
use super::{Resolution, ResolveOptions, ResolvedAgent, ResolvedTool};
use crate::bundle::Bundle;
use crate::catalogs::{Catalogs, Fetched};
use crate::manifest::{
    AgentManifest, Ask, DelegationManifest, Head, Home, Manifest, PolicyManifest, ToolManifest,
};
use crate::origin::Origin;
use crate::session::Session;

pub(super) fn walk(
    session: &mut Session,
    bundle: &Bundle,
    catalogs: &mut Catalogs,
    options: &ResolveOptions,
) -> Option<Resolution> {
    let root = bundle.root.clone()?;
    let mut walker = Walker {
        chooser: Chooser::new(session, bundle, catalogs, options),
        tools: BTreeMap::new(),
        frozen: BTreeMap::new(),
        agents: Vec::new(),
        members: Vec::new(),
        names: BTreeMap::new(),
    };
    walker.chooser.member(&root, root.head().origin);
    let contract = match root {
        Manifest::Agent(agent) => {
            walker.closure(agent);
            None
        }
        Manifest::Tool(tool) => {
            walker.contract_policies(&tool);
            Some(Manifest::Tool(tool))
        }
        policy @ Manifest::Policy(_) => Some(policy),
    };
    let Walker { chooser, tools, frozen, agents, members, .. } = walker;
    Some(Resolution {
        agents,
        frozen: frozen.into_values().collect(),
        members,
        contract,
        tools,
        choices: chooser.finish(),
    })
}

struct Walker<'a> {
    chooser: Chooser<'a>,
    tools: BTreeMap<DocumentKey, ResolvedTool>,
    frozen: BTreeMap<Digest, Arc<Snapshot>>,
    agents: Vec<ResolvedAgent>,
    members: Vec<DocumentKey>,
    /// `metadata.name` of the bundle's own agents in the closure.
    names: BTreeMap<String, (DocumentKey, Origin)>,
}

/// An agent whose delegations are being followed.
struct Frame {
    /// Its place in `agents`.
    at: usize,
    key: DocumentKey,
    next: usize,
    seen: BTreeSet<LogicalId>,
}

impl Walker<'_> {
    fn closure(&mut self, root: Arc<AgentManifest>) {
        let mut done: BTreeSet<DocumentKey> = BTreeSet::new();
        let mut path = vec![self.enter(root)];
        while let Some(frame) = path.last_mut() {
            let Some(agent) = self.agents.get(frame.at).map(|agent| Arc::clone(&agent.manifest)) else {
                break;
            };
            let Some(delegation) = agent.delegates.get(frame.next) else {
                done.insert(frame.key.clone());
                path.pop();
                continue;
            };
            frame.next += 1;
            let (at, key) = (frame.at, frame.key.clone());
            let target = self.target(&agent, delegation);
            let id = target.as_ref().map(Target::id);
            let repeated = match (&id, path.last_mut()) {
                (Some(id), Some(frame)) => !frame.seen.insert(id.clone()),
                _ => false,
            };
            if repeated && let Some(id) = &id {
                self.say(
                    &code::DUPLICATE_TARGET,
                    &delegation.ask,
                    format!("`{id}` is delegated to twice"),
                    "again here",
                    "remove one of the two delegations",
                );
            }
            if id.as_ref() == Some(&agent.head.id) && !matches!(target, Some(Target::Agent(_))) {
                self.say(
                    &code::SELF_REFERENCE,
                    &delegation.ask,
                    format!("`{}` delegates to itself", agent.head.id),
                    "itself",
                    "remove the delegation",
                );
            }
            let Some(Target::Agent(next)) = target else {
                let resolved = match target {
                    Some(Target::Frozen { key, snapshot, digest, .. }) => {
                        for member in &snapshot.members {
                            self.member(member);
                        }
                        self.frozen.insert(digest, snapshot);
                        Some(key)
                    }
                    Some(Target::LateBound(_) | Target::Agent(_)) | None => None,
                };
                self.push_delegate(at, resolved);
                continue;
            };
            let next_key = next.head.key();
            self.push_delegate(at, Some(next_key.clone()));
            if next_key == key {
                self.say(
                    &code::SELF_REFERENCE,
                    &delegation.ask,
                    format!("`{}` delegates to itself", next_key.id),
                    "itself",
                    "remove the delegation",
                );
            } else if let Some(from) = path.iter().position(|frame| frame.key == next_key) {
                let cycle: Vec<String> =
                    path.iter().skip(from).map(|frame| frame.key.id.to_string()).collect();
                let shown = format!("{} → {}", cycle.join(" → "), next_key.id);
                self.say(
                    &code::CYCLE,
                    &delegation.ask,
                    format!("agents delegate in a circle: {shown}"),
                    "closes the circle",
                    "remove one of the delegations, or make it `late_bound`",
                );
            } else if !done.contains(&next_key) {
                path.push(self.enter(next));
            }
        }
    }

    fn say(
        &mut self,
        code: &'static bailiwick_bundles::Code,
        ask: &Ask,
        message: String,
        label: &str,
        help: &str,
    ) {
        let diagnostic = self.chooser.session.label(Diagnostic::new(code, message), ask.origin, label);
        self.chooser.session.push(diagnostic.help(help));
    }

    fn member(&mut self, key: &DocumentKey) {
        if !self.members.contains(key) {
            self.members.push(key.clone());
        }
    }

    fn push_delegate(&mut self, at: usize, target: Option<DocumentKey>) {
        if let Some(agent) = self.agents.get_mut(at) {
            agent.delegates.push(target);
        }
    }

    /// Resolves all of an agent but its delegations.
    fn enter(&mut self, agent: Arc<AgentManifest>) -> Frame {
        let home = agent.head.home.clone();
        let key = agent.head.key();
        if home == Home::Bundle {
            let name = agent.head.id.name().to_string();
            let here = (key.clone(), agent.head.origin);
            if let Some((first, origin)) = self.names.insert(name.clone(), here)
                && first != key
            {
                let message = format!(
                    "two agents of the bundle have the name `{name}`: `{}` and `{}`",
                    first.id, key.id
                );
                let session = &mut *self.chooser.session;
                let diagnostic = Diagnostic::new(&code::DUPLICATE_DOCUMENT, message);
                let diagnostic = session.label(diagnostic, agent.head.origin, "again here");
                let diagnostic = session.label(diagnostic, origin, "first here");
                session.push(diagnostic.help("rename one of them"));
            }
        }
        let tools = agent
            .tools
            .iter()
            .map(|binding| if binding.mcp.is_some() { None } else { self.tool(&binding.ask, &home) })
            .collect();
        let binding_policies =
            agent.tools.iter().map(|binding| self.policies(&binding.policies, &home)).collect();
        let delegation_policies =
            agent.delegates.iter().map(|delegation| self.policies(&delegation.policies, &home)).collect();
        let default_policies = self.policies(&agent.default_policies, &home);
        let boundaries = self.boundaries(&agent.head);
        self.member(&key);
        self.agents.push(ResolvedAgent {
            manifest: agent,
            tools,
            binding_policies,
            delegates: Vec::new(),
            delegation_policies,
            default_policies,
            boundaries,
        });
        Frame { at: self.agents.len() - 1, key, next: 0, seen: BTreeSet::new() }
    }

    fn tool(&mut self, ask: &Ask, home: &Home) -> Option<DocumentKey> {
        let tool = match self.chooser.choose(ask, Kind::Tool, home)? {
            Fetched::Manifest(Manifest::Tool(tool)) => tool,
            Fetched::Manifest(Manifest::Agent(_) | Manifest::Policy(_)) | Fetched::Frozen(..) => return None,
        };
        let key = tool.head.key();
        if !self.tools.contains_key(&key) {
            let home = tool.head.home.clone();
            let default_policies = self.policies(&tool.default_policies, &home);
            let policy_paths = self.policy_paths(&tool);
            let boundaries = self.boundaries(&tool.head);
            self.tools.insert(
                key.clone(),
                ResolvedTool { manifest: tool, default_policies, policy_paths, boundaries },
            );
        }
        Some(key)
    }

    /// A tool that is published alone keeps its references; only paths must lead to something to name.
    fn contract_policies(&mut self, tool: &Arc<ToolManifest>) {
        let policy_paths = self.policy_paths(tool);
        let resolved = ResolvedTool {
            manifest: Arc::clone(tool),
            default_policies: Vec::new(),
            policy_paths,
            boundaries: Vec::new(),
        };
        self.tools.insert(tool.head.key(), resolved);
    }

    /// The policies behind the paths among a tool's default policies.
    fn policy_paths(&mut self, tool: &ToolManifest) -> BTreeMap<String, DocumentKey> {
        let mut paths = BTreeMap::new();
        for ask in &tool.default_policies {
            let Reference::Path(path) = &ask.reference else { continue };
            for policy in self.policies(std::slice::from_ref(ask), &tool.head.home) {
                paths.insert(path.clone(), policy.head.key());
            }
        }
        paths
    }

    fn policies(&mut self, asks: &[Ask], home: &Home) -> Vec<Arc<PolicyManifest>> {
        asks.iter()
            .filter_map(|ask| match self.chooser.choose(ask, Kind::Policy, home)? {
                Fetched::Manifest(Manifest::Policy(policy)) => Some(policy),
                Fetched::Manifest(Manifest::Agent(_) | Manifest::Tool(_)) | Fetched::Frozen(..) => None,
            })
            .collect()
    }

    fn boundaries(&mut self, head: &Head) -> Vec<(BoundaryId, Origin, Vec<Arc<PolicyManifest>>)> {
        head.boundaries
            .iter()
            .map(|(boundary, origin)| {
                let policies = self.chooser.implementing(boundary, head.id.namespace(), *origin);
                (boundary.clone(), *origin, policies)
            })
            .collect()
    }

    /// What a delegation leads to. Faults are said.
    fn target(&mut self, agent: &AgentManifest, delegation: &DelegationManifest) -> Option<Target> {
        let ask = &delegation.ask;
        if self.chooser.bundle.kind != ArtifactKind::Bundle {
            self.say(
                &code::NEEDS_BUNDLE,
                ask,
                "an agent can delegate only inside a Bundle".to_owned(),
                "a delegation",
                "add `bundle.yaml` with `kind: Bundle` and this agent as its `spec.root`",
            );
            return None;
        }
        match (&ask.reference, delegation.late_bound) {
            (Reference::Logical { id, constraint: None }, true) => Some(Target::LateBound(id.clone())),
            (Reference::Logical { id, constraint: Some(_) }, true) => {
                let help = format!("write `{id}`, or remove `late_bound`");
                self.say(
                    &code::EXCLUSIVE_FIELDS,
                    ask,
                    format!("`{id}` is pinned and `late_bound`"),
                    "one or the other",
                    &help,
                );
                None
            }
            (Reference::Path(path), true) => {
                self.say(
                    &code::EXCLUSIVE_FIELDS,
                    ask,
                    format!("`{path}` is in the bundle and `late_bound`"),
                    "one or the other",
                    "remove `late_bound`, or name an agent outside the bundle",
                );
                None
            }
            (Reference::Logical { id, constraint }, false)
                if !constraint.as_ref().is_some_and(bailiwick_bundles::Constraint::is_exact) =>
            {
                let local = self.chooser.bundle.find(Kind::Agent, id).is_some();
                let help = if local {
                    format!("`{id}` is in the bundle: refer to it by its path")
                } else {
                    format!("pin one version, such as `{id}@1.4.0`, or set `late_bound: true`")
                };
                self.say(
                    &code::UNPINNED_DELEGATE,
                    ask,
                    format!("delegation to `{id}` is not pinned"),
                    "not one version",
                    &help,
                );
                None
            }
            (Reference::Logical { .. } | Reference::Path(_), false) => {
                match self.chooser.choose(ask, Kind::Agent, &agent.head.home)? {
                    Fetched::Manifest(Manifest::Agent(next)) => Some(Target::Agent(next)),
                    Fetched::Frozen(snapshot, digest) => {
                        let key = snapshot.members.first()?.clone();
                        Some(Target::Frozen { id: snapshot.identity.id(), key, snapshot, digest })
                    }
                    Fetched::Manifest(Manifest::Tool(_) | Manifest::Policy(_)) => None,
                }
            }
        }
    }
}

enum Target {
    Agent(Arc<AgentManifest>),
    Frozen { id: LogicalId, key: DocumentKey, snapshot: Arc<Snapshot>, digest: Digest },
    LateBound(LogicalId),
}

impl Target {
    fn id(&self) -> LogicalId {
        match self {
            Self::Agent(agent) => agent.head.id.clone(),
            Self::Frozen { id, .. } => id.clone(),
            Self::LateBound(id) => id.clone(),
        }
    }
}
