//! What a snapshot decides about one call.
//!
//! A decider is made from the rules and the effective schema that the snapshot carries, never from its Cedar text.

use std::sync::Arc;

use bailiwick_bundles::{Diagnostic, code, nearest};
use bailiwick_narrowing::Schema;
use bailiwick_policy::{AttachedBy, Attachment, Decider, DeciderError, DeciderInput, Phase, Policy, Ruling};
use bailiwick_snapshots::{Agent, Binding, DocumentKey, Snapshot};

/// Decides the call `arguments` of what the model of `agent` calls `tool`; of the only agent where none is named.
///
/// Whoever decides many calls makes a [`decider`] once. An agent or tool that the snapshot does not have is a denial, as is
/// everything that cannot be decided.
pub fn decide(
    snapshot: &Snapshot,
    agent: Option<&str>,
    tool: &str,
    arguments: &[u8],
    phase: Phase,
) -> Ruling {
    match decider(snapshot, agent, tool) {
        Ok(decider) => decider.decide(arguments, phase),
        Err(message) => Ruling::Error { message },
    }
}

/// What decides the calls of one binding, prepared: see [`decide`].
///
/// # Errors
/// There is no such agent or tool, or what is there cannot be compiled, in words.
pub fn decider(snapshot: &Snapshot, agent: Option<&str>, tool: &str) -> Result<Decider, String> {
    let bound = find(snapshot, agent, tool).map_err(|diagnostic| match diagnostic.help {
        Some(help) => format!("{}; {help}", diagnostic.message),
        None => diagnostic.message,
    })?;
    decider_of(snapshot, bound)
}

/// A binding of a snapshot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'s> {
    pub(crate) agent: &'s DocumentKey,
    pub(crate) binding: &'s Binding,
}

/// The binding that the model of `agent` calls `tool`; of the only agent where none is named.
pub(crate) fn find<'s>(
    snapshot: &'s Snapshot,
    agent: Option<&str>,
    tool: &str,
) -> Result<Bound<'s>, Diagnostic> {
    let (key, agent) = find_agent(snapshot, agent)?;
    let binding = agent.bindings.iter().find(|binding| binding.wire_name.as_str() == tool);
    binding.map(|binding| Bound { agent: key, binding }).ok_or_else(|| {
        let names: Vec<&str> = agent.bindings.iter().map(|binding| binding.wire_name.as_str()).collect();
        let diagnostic =
            Diagnostic::new(&code::SOURCE_NOT_FOUND, format!("`{}` calls nothing as `{tool}`", key.id));
        diagnostic.help(help(tool, &names, "it calls nothing at all"))
    })
}

fn find_agent<'s>(
    snapshot: &'s Snapshot,
    name: Option<&str>,
) -> Result<(&'s DocumentKey, &'s Agent), Diagnostic> {
    let ids: Vec<String> = snapshot.agents.keys().map(|key| key.id.to_string()).collect();
    let names: Vec<&str> = ids.iter().map(String::as_str).collect();
    let identity = snapshot.identity.id();
    let refuse = |message: String, asked: &str| {
        let help = help(asked, &names, "publish an agent, and ask about that");
        Err(Diagnostic::new(&code::SOURCE_NOT_FOUND, message).help(help))
    };
    let Some(name) = name else {
        let mut agents = snapshot.agents.iter();
        return match (agents.next(), agents.next()) {
            (Some(only), None) => Ok(only),
            (None, _) => refuse(format!("`{identity}` holds no agent"), ""),
            (Some(_), Some(_)) => refuse(format!("`{identity}` holds several agents: which one?"), ""),
        };
    };
    let is = |key: &DocumentKey| {
        key.to_string() == name || key.id.to_string() == name || key.id.name().as_str() == name
    };
    let mut matching = snapshot.agents.iter().filter(|(key, _)| is(key));
    match (matching.next(), matching.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => refuse(format!("`{identity}` holds no agent called `{name}`"), name),
        (Some(_), Some(_)) => {
            let keys: Vec<String> =
                snapshot.agents.keys().filter(|key| is(key)).map(ToString::to_string).collect();
            let message = format!("`{identity}` holds several agents called `{name}`");
            Err(Diagnostic::new(&code::AMBIGUOUS_SOURCE, message)
                .help(format!("name one of {}", keys.join(", "))))
        }
    }
}

fn help(asked: &str, names: &[&str], none: &str) -> String {
    match (nearest(asked, names.iter().copied()), names) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => none.to_owned(),
        (None, names) => format!("there is {}", names.join(", ")),
    }
}

/// What decides the calls of a binding. The error is in words: such a binding's calls are denied.
pub(crate) fn decider_of(snapshot: &Snapshot, bound: Bound<'_>) -> Result<Decider, String> {
    let Bound { agent, binding } = bound;
    let input = Schema::compile(&binding.input_schema)
        .map_err(|error| format!("the input schema at `{}`: {}", error.pointer, error.message))?;
    let policies = attached(snapshot, &binding.policies).map_err(|error| error.to_string())?;
    let agent = agent.id.to_string();
    let input = DeciderInput {
        agent: &agent,
        tool: binding.wire_name.as_str(),
        input: &Arc::new(input),
        policies: &policies,
    };
    Decider::new(&input).map_err(|error| error.to_string())
}

/// The rules that are attached, each with how it came there. One that the snapshot lacks is never passed over.
pub(crate) fn attached<'s>(
    snapshot: &'s Snapshot,
    attachments: &[Attachment],
) -> Result<Vec<(AttachedBy, &'s Policy)>, DeciderError> {
    let rule = |attachment: &Attachment| {
        let record = snapshot.policies.get(&attachment.policy);
        let record = record.ok_or_else(|| DeciderError::missing(&attachment.policy))?;
        Ok((attachment.by.clone(), &record.rule))
    };
    attachments.iter().map(rule).collect()
}
