//! `show` and `tree`: what is in a snapshot.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bailiwick_bundles::{Diagnostic, code, nearest};
use bailiwick_snapshots::{Agent, Binding, DocumentKey, Grant, Snapshot, Tool};
use serde::Serialize;
use serde_json::Value;

use super::super::args::{Format, ShowArgs, SourceArgs};
use super::super::report::write_json;
use super::super::summary::{attached_by, count, decision, grant, narrowing};
use super::super::{CliError, Context};
use crate::source::{Loaded, load};

/// A part of a snapshot.
enum Part<'s> {
    Agent(&'s DocumentKey, &'s Agent),
    Tool(&'s DocumentKey, &'s Tool),
    Policy(String, &'s bailiwick_snapshots::PolicyRecord),
    Binding(&'s DocumentKey, &'s Binding),
}

pub(in super::super) fn show(context: &mut Context<'_, '_>, args: &ShowArgs) -> Result<u8, CliError> {
    let Some(loaded) = load_source(context, &args.source) else { return context.fail() };
    context.say_beside()?;
    let Some(name) = &args.part else {
        match context.format {
            Format::Json => write_json(context.io.stdout, &loaded.snapshot.to_value())?,
            Format::Human => write!(context.io.stdout, "{}", snapshot_text(&loaded))?,
        }
        return Ok(0);
    };
    let parts = find(&loaded.snapshot, name);
    if parts.is_empty() {
        let names = names(&loaded.snapshot);
        let near = nearest(name, names.iter().map(String::as_str));
        let message = format!("the snapshot has no part called `{name}`");
        let help = near
            .map_or_else(|| format!("it has {}", names.join(", ")), |near| format!("did you mean `{near}`?"));
        context.session.push(Diagnostic::new(&code::SOURCE_NOT_FOUND, message).help(help));
        return context.fail();
    }
    match context.format {
        Format::Json => {
            let values: Vec<Value> = parts.iter().map(part_json).collect();
            let value = match <[Value; 1]>::try_from(values) {
                Ok([only]) => only,
                Err(values) => Value::Array(values),
            };
            write_json(context.io.stdout, &value)?;
        }
        Format::Human => {
            for part in &parts {
                let text = match part {
                    Part::Agent(key, agent) => agent_text(&loaded.snapshot, key, agent),
                    Part::Tool(key, tool) => tool_text(key, tool),
                    Part::Policy(name, record) => policy_text(name, record),
                    Part::Binding(key, binding) => binding_text(&loaded.snapshot, key, binding),
                };
                write!(context.io.stdout, "{text}")?;
            }
        }
    }
    Ok(0)
}

pub(in super::super) fn tree(context: &mut Context<'_, '_>, args: &SourceArgs) -> Result<u8, CliError> {
    let Some(loaded) = load_source(context, args) else { return context.fail() };
    context.say_beside()?;
    let snapshot = &loaded.snapshot;
    match context.format {
        Format::Json => {
            write_json(context.io.stdout, &tree_json(snapshot))?;
        }
        Format::Human => {
            let mut text =
                format!("{} {}@{}\n", snapshot.kind, snapshot.identity.id(), snapshot.identity.version);
            if let Some(root) = snapshot.members.first() {
                if snapshot.kind == bailiwick_snapshots::ArtifactKind::Bundle {
                    let _ = writeln!(text, "agent {root}");
                }
                draw_tree(&mut text, snapshot, root, "", &mut BTreeSet::new());
            }
            write!(context.io.stdout, "{text}")?;
        }
    }
    Ok(0)
}

fn load_source(context: &mut Context<'_, '_>, args: &SourceArgs) -> Option<Loaded> {
    let (store, cwd) = (context.store.clone(), context.io.cwd.clone());
    load(&mut context.session, &args.source, store.as_deref(), &cwd)
}

/// Every part that `name` names: several agents may have a binding of one wire name.
fn find<'s>(snapshot: &'s Snapshot, name: &str) -> Vec<Part<'s>> {
    let is = |key: &DocumentKey| key.to_string() == name || key.id.to_string() == name;
    let agents =
        snapshot.agents.iter().filter(|(key, _)| is(key)).map(|(key, agent)| Part::Agent(key, agent));
    let tools = snapshot.tools.iter().filter(|(key, _)| is(key)).map(|(key, tool)| Part::Tool(key, tool));
    let policies = snapshot
        .policies
        .iter()
        .map(|(id, record)| (id.to_string(), record))
        .filter(|(id, _)| id == name || id.split_once('@').is_some_and(|(id, _)| id == name))
        .map(|(id, record)| Part::Policy(id, record));
    let bindings = snapshot.agents.iter().flat_map(|(key, agent)| {
        agent
            .bindings
            .iter()
            .filter(|binding| binding.wire_name.as_str() == name)
            .map(move |binding| Part::Binding(key, binding))
    });
    let of_agent = name.split_once('/').into_iter().flat_map(|(agent, wire_name)| {
        let named = move |key: &DocumentKey| key.id.name().as_str() == agent || key.id.to_string() == agent;
        snapshot.agents.iter().filter(move |(key, _)| named(key)).flat_map(move |(key, agent)| {
            let bindings =
                agent.bindings.iter().filter(move |binding| binding.wire_name.as_str() == wire_name);
            bindings.map(move |binding| Part::Binding(key, binding))
        })
    });
    agents.chain(tools).chain(policies).chain(bindings).chain(of_agent).collect()
}

fn names(snapshot: &Snapshot) -> Vec<String> {
    let bindings = snapshot
        .agents
        .values()
        .flat_map(|agent| &agent.bindings)
        .map(|binding| binding.wire_name.to_string());
    let mut names: Vec<String> = snapshot
        .agents
        .keys()
        .map(|key| key.id.to_string())
        .chain(bindings)
        .chain(snapshot.tools.keys().map(|key| key.id.to_string()))
        .chain(snapshot.policies.keys().map(ToString::to_string))
        .collect();
    names.dedup();
    names
}

fn part_json(part: &Part<'_>) -> Value {
    // INVARIANT: keys are strings and numbers are JSON's, so serialising cannot fail.
    fn value<T: Serialize>(value: &T) -> Value {
        serde_json::to_value(value).unwrap_or_default()
    }
    match part {
        Part::Agent(_, agent) => value(agent),
        Part::Tool(_, tool) => value(tool),
        Part::Policy(_, record) => value(record),
        Part::Binding(_, binding) => value(binding),
    }
}

fn snapshot_text(loaded: &Loaded) -> String {
    let snapshot = &loaded.snapshot;
    let mut text = String::new();
    let _ = writeln!(text, "{} {}@{}", snapshot.kind, snapshot.identity.id(), snapshot.identity.version);
    let _ = writeln!(text, "  digest   {}", loaded.digest);
    let parts = [
        count(snapshot.agents.len(), "agent"),
        count(snapshot.tools.len(), "tool"),
        count(snapshot.policies.len(), "policy"),
    ];
    let _ = writeln!(text, "  holds    {}", parts.join(", "));
    for (name, env) in &snapshot.secrets {
        let _ = writeln!(text, "  secret   {name} from {env}");
    }
    for member in &snapshot.members {
        if let Some(agent) = snapshot.agents.get(member) {
            text.push('\n');
            text.push_str(&agent_text(snapshot, member, agent));
        }
    }
    if snapshot.members.is_empty() {
        for (key, tool) in &snapshot.tools {
            text.push('\n');
            text.push_str(&tool_text(key, tool));
        }
        for (id, record) in &snapshot.policies {
            text.push('\n');
            text.push_str(&policy_text(&id.to_string(), record));
        }
    }
    text
}

fn agent_text(snapshot: &Snapshot, key: &DocumentKey, agent: &Agent) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "agent {key}");
    let _ = writeln!(text, "  purpose  {}", agent.purpose);
    if let Some(model) = &agent.model {
        let _ = writeln!(text, "  model    {} {}", model.provider, model.name);
    }
    for (limit, value) in limits(agent) {
        let _ = writeln!(text, "  limit    {limit} {value}");
    }
    for server in &agent.servers {
        let _ = writeln!(text, "  reaches  {} at {}", server.name, server.url);
    }
    let width = agent.bindings.iter().map(|binding| binding.wire_name.as_str().len()).max().unwrap_or(0);
    for binding in &agent.bindings {
        let _ = writeln!(text, "  calls    {:width$}  {}", binding.wire_name, grant(&binding.grants));
        let _ = writeln!(text, "           {:width$}  {}", "", decision(snapshot, binding));
    }
    text
}

fn limits(agent: &Agent) -> Vec<(&'static str, u64)> {
    let limits = &agent.limits;
    [
        ("tokens per run", limits.max_tokens_per_run),
        ("loop iterations", limits.max_loop_iterations),
        ("wall-clock seconds", limits.max_wall_clock_seconds),
        ("minutes of waiting for people", limits.max_hitl_wait_minutes),
        ("subagent depth", Some(limits.max_subagent_depth)),
    ]
    .into_iter()
    .filter_map(|(name, value)| value.map(|value| (name, value)))
    .collect()
}

fn binding_text(snapshot: &Snapshot, agent: &DocumentKey, binding: &Binding) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "binding {} of {agent}", binding.wire_name);
    let _ = writeln!(text, "  grants      {}", grant(&binding.grants));
    if let Some(description) = &binding.description {
        let _ = writeln!(text, "  says        {}", description.trim_end());
    }
    let _ = writeln!(text, "  narrows     {}", narrowing(snapshot, binding));
    let _ = writeln!(text, "  decides     {}", decision(snapshot, binding));
    for attachment in &binding.policies {
        let _ = writeln!(text, "  policy      {}  by {}", attachment.policy, attached_by(&attachment.by));
    }
    let _ = writeln!(text, "  contract    {}", binding.contract);
    let _ = writeln!(text, "  definition  {}", binding.definition);
    let _ = writeln!(text, "  input\n{}", indented(&binding.input_schema));
    text
}

fn tool_text(key: &DocumentKey, tool: &Tool) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "tool {key}");
    if let Some(description) = &tool.description {
        let _ = writeln!(text, "  says        {}", description.trim_end());
    }
    let assumed = if tool.class_assumed { " (assumed)" } else { "" };
    let _ = writeln!(text, "  class       {}{assumed}", tool.side_effect_class);
    let _ = writeln!(text, "  contract    {}", tool.contract);
    let _ = writeln!(text, "  definition  {}", tool.definition);
    let _ = writeln!(text, "  input\n{}", indented(&tool.input_schema));
    if let Some(output) = &tool.output_schema {
        let _ = writeln!(text, "  output\n{}", indented(output));
    }
    text
}

fn policy_text(name: &str, record: &bailiwick_snapshots::PolicyRecord) -> String {
    let mut text = String::new();
    let rule = &record.rule;
    let _ = writeln!(text, "policy {name}");
    if let Some(description) = &rule.description {
        let _ = writeln!(text, "  says        {}", description.trim_end());
    }
    let _ = writeln!(text, "  decides     {}", bailiwick_policy::describe([rule]));
    if let Some(reason) = &rule.decision.reason {
        let _ = writeln!(text, "  because     {reason}");
    }
    for boundary in &rule.implements {
        let _ = writeln!(text, "  implements  {boundary}");
    }
    text
}

fn indented(value: &Value) -> String {
    let mut value = value.clone();
    value.sort_all_objects();
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// How deep a tree is drawn. Deeper ones are named, not followed.
const DEPTH: usize = 32;

/// Draws what an agent calls. An agent that was drawn before is only named again.
fn draw_tree<'s>(
    text: &mut String,
    snapshot: &'s Snapshot,
    key: &'s DocumentKey,
    indent: &str,
    drawn: &mut BTreeSet<&'s DocumentKey>,
) {
    let Some(agent) = snapshot.agents.get(key) else { return };
    drawn.insert(key);
    for (at, binding) in agent.bindings.iter().enumerate() {
        let last = at + 1 == agent.bindings.len();
        let (corner, rail) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        let _ = writeln!(text, "{indent}{corner} {}  {}", binding.wire_name, grant(&binding.grants));
        let inner = format!("{indent}{rail}");
        for attachment in &binding.policies {
            let _ = writeln!(text, "{inner}· {}  by {}", attachment.policy, attached_by(&attachment.by));
        }
        let Grant::Delegate { agent, .. } = &binding.grants else { continue };
        if drawn.contains(agent) || inner.chars().count() > DEPTH * 3 {
            let _ = writeln!(text, "{inner}…");
        } else {
            draw_tree(text, snapshot, agent, &inner, drawn);
        }
    }
}

/// The same as a flat list: `agents` by key, so that no reader has to follow a deep nesting.
fn tree_json(snapshot: &Snapshot) -> Value {
    let agents: serde_json::Map<String, Value> = snapshot
        .agents
        .iter()
        .map(|(key, agent)| {
            let bindings: Vec<Value> = agent
                .bindings
                .iter()
                .map(|binding| {
                    serde_json::json!({
                        "wire_name": binding.wire_name,
                        "grants": binding.grants,
                        "policies": binding.policies,
                    })
                })
                .collect();
            (key.to_string(), bindings.into())
        })
        .collect();
    serde_json::json!({
        "kind": snapshot.kind,
        "identity": snapshot.identity,
        "members": snapshot.members,
        "agents": agents,
    })
}
