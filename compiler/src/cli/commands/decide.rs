//! `decide`: what happens to one call.

use std::fmt::Write as _;
use std::io::Read;

use bailiwick_bundles::documents::phrony::DecisionType;
use bailiwick_bundles::{Diagnostic, MAX_BYTES, Severity, code};
use bailiwick_policy::{Considered, Explanation, PolicyId, Requirements, Ruling, Truth};
use serde_json::{Map, Value, json};

use super::super::args::{DecideArgs, Format};
use super::super::report::{SCHEMA_VERSION, write_json};
use super::super::summary::{attached_by, one_line};
use super::super::{CliError, Context};
use crate::decide::{Bound, decider_of, find};
use crate::source::{Loaded, load};
use crate::write::plain;

pub(in super::super) fn decide(context: &mut Context<'_, '_>, args: &DecideArgs) -> Result<u8, CliError> {
    let (store, cwd) = (context.store.clone(), context.io.cwd.clone());
    let Some(loaded) = load(&mut context.session, &args.source, store.as_deref(), &cwd) else {
        return context.fail();
    };
    context.session.diagnostics.retain(|diagnostic| diagnostic.severity != Severity::Note);
    let (agent, tool) = match args.names.as_slice() {
        [tool] => (None, tool),
        [agent, tool] => (Some(agent.as_str()), tool),
        [] | [_, _, _, ..] => return Ok(2),
    };
    let bound = match find(&loaded.snapshot, agent, tool) {
        Ok(bound) => bound,
        Err(diagnostic) => {
            context.session.push(diagnostic);
            return context.fail();
        }
    };
    let Some(arguments) = read_arguments(context, &args.args) else { return context.fail() };
    context.say_beside()?;
    let explanation = match decider_of(&loaded.snapshot, bound) {
        Ok(decider) => decider.explain(&arguments, args.phase),
        Err(message) => Explanation { ruling: Ruling::Error { message }, considered: Vec::new() },
    };
    match context.format {
        Format::Json => {
            let value = explanation_json(context, &loaded, bound, args, &explanation);
            write_json(context.io.stdout, &value)?;
        }
        Format::Human => {
            let text = explanation_text(context, &loaded, &explanation, args.explain);
            write!(context.io.stdout, "{text}")?;
        }
    }
    Ok(0)
}

/// The arguments as written: in a file, on standard input, or on the command line itself.
fn read_arguments(context: &mut Context<'_, '_>, from: &str) -> Option<Vec<u8>> {
    if from.trim_start().starts_with(['{', '[']) {
        return Some(from.as_bytes().to_vec());
    }
    let mut bytes = Vec::new();
    // One more than may be read: what is too long is denied for its length.
    let limit = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX) + 1;
    let read = if from == "-" {
        context.io.stdin.take(limit).read_to_end(&mut bytes)
    } else {
        let path = context.io.cwd.join(from);
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => Err(std::io::Error::other("it is no regular file")),
            Ok(_) => std::fs::File::open(&path).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
            Err(error) => Err(error),
        }
    };
    match read {
        Ok(_) => Some(bytes),
        Err(error) => {
            let is_absent = error.kind() == std::io::ErrorKind::NotFound;
            let why = if is_absent { "there is no such file".to_owned() } else { plain(&error) };
            let message = format!("`{from}` cannot be read: {why}");
            let diagnostic = Diagnostic::new(&code::UNREADABLE, message);
            let help = "name a file with the arguments, `-` for standard input, or write them as `{…}`";
            context.session.push(diagnostic.help(help));
            None
        }
    }
}

fn explanation_text(
    context: &Context<'_, '_>,
    loaded: &Loaded,
    explanation: &Explanation,
    explain: bool,
) -> String {
    let ruling = &explanation.ruling;
    let mut text = format!("{}\n", ruling.word());
    match ruling {
        Ruling::Allow => {}
        Ruling::RequireApproval { requirements } | Ruling::Escalate { requirements } => {
            let _ = writeln!(text, "  needs       {}", requirement_words(requirements));
            for asker in &requirements.asked_by {
                let reason = asker
                    .reason
                    .as_ref()
                    .map_or_else(String::new, |reason| format!("  {}", one_line(reason)));
                let boundary = asker.authority_ref.as_ref();
                let boundary = boundary.map_or_else(String::new, |boundary| format!(" for {boundary}"));
                let _ = writeln!(text, "  asked by    {}{boundary}{reason}", asker.policy);
            }
        }
        Ruling::Deny { reasons } => {
            for reason in reasons {
                let by = reason.policy.as_ref().map_or_else(String::new, |policy| format!("{policy}  "));
                let _ = writeln!(text, "  because     {by}{}", one_line(&reason.message));
            }
        }
        Ruling::Error { message } => {
            let _ = writeln!(text, "  denied since it could not be decided: {}", one_line(message));
        }
    }
    if explain {
        for considered in &explanation.considered {
            considered_text(&mut text, context, loaded, considered);
        }
    }
    text
}

fn requirement_words(requirements: &Requirements) -> String {
    let n = requirements.approvals_required;
    let mut words = vec![if n == 1 { "1 approval".to_owned() } else { format!("{n} approvals") }];
    if requirements.comprehension_required {
        words.push("with proof of comprehension".to_owned());
    }
    if let Some(timeout) = &requirements.timeout {
        words.push(format!("{} after {} minutes", timeout.default, timeout.after_minutes));
    }
    words.push(format!("on rejection {}", requirements.on_reject));
    words.push(format!("edited arguments: {}", requirements.on_modify));
    words.join("; ")
}

fn considered_text(text: &mut String, context: &Context<'_, '_>, loaded: &Loaded, found: &Considered) {
    let head = match (found.applies, found.decision) {
        (true, DecisionType::Allow) => "refuses",
        (true, DecisionType::RequireApproval | DecisionType::Escalate | DecisionType::Deny) => "applies",
        (false, _) => "passes",
    };
    let by: Vec<String> = found.attached_by.iter().map(attached_by).collect();
    // A policy without conditions has no comparison to point at.
    let place = Place::of(context, loaded, &found.policy, None).filter(|_| found.clauses.is_empty());
    let line = format!("  {head:<10}  {}  {}  by {}", found.policy, found.decision, by.join(", "));
    placed(text, &line, place.as_ref());
    for clause in &found.clauses {
        let value = clause.value.as_ref().map_or_else(|| "absent".to_owned(), short);
        let place = Place::of(context, loaded, &found.policy, Some(clause.at));
        let truth = truth_word(clause.truth);
        let line = format!("    {truth:<8}  {}  ({} is {value})", clause.text, clause.field);
        placed(text, &line, place.as_ref());
    }
}

/// A line and where what it tells was written: beside it where there is room, else below.
fn placed(text: &mut String, line: &str, place: Option<&Place>) {
    const WIDTH: usize = 100;
    let line = one_line(line);
    let Some(Place { file, line: row, column }) = place else {
        let _ = writeln!(text, "{line}");
        return;
    };
    let place = format!("{file}:{row}:{column}");
    let gap =
        if line.chars().count() + 2 + place.chars().count() <= WIDTH { "  " } else { "\n              " };
    let _ = writeln!(text, "{line}{gap}{place}");
}

/// A value on one line of bearable length.
fn short(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn truth_word(truth: Truth) -> &'static str {
    match truth {
        Truth::True => "true",
        Truth::Unknown => "unknown",
        Truth::False => "false",
    }
}

/// Where a policy, or a comparison of it, was written; known for what was compiled from files.
struct Place {
    file: String,
    line: usize,
    column: usize,
}

impl Place {
    fn of(context: &Context<'_, '_>, loaded: &Loaded, policy: &PolicyId, at: Option<usize>) -> Option<Self> {
        let manifest = loaded.policies.get(policy)?;
        let origin = match at {
            Some(at) => manifest.comparisons.get(at).map(|comparison| comparison.field)?,
            None => manifest.condition_origin,
        };
        let span = context.session.origins.span(origin)?;
        let file = context.session.sources.get(span.file)?;
        let start = file.line_column(span.start);
        Some(Self { file: file.path().to_owned(), line: start.line, column: start.column })
    }

    fn write(self, object: &mut Map<String, Value>) {
        object.insert("file".into(), self.file.into());
        object.insert("line".into(), self.line.into());
        object.insert("column".into(), self.column.into());
    }
}

fn explanation_json(
    context: &Context<'_, '_>,
    loaded: &Loaded,
    bound: Bound<'_>,
    args: &DecideArgs,
    explanation: &Explanation,
) -> Value {
    let mut object = Map::new();
    object.insert("schema_version".into(), SCHEMA_VERSION.into());
    object.insert("decision".into(), explanation.ruling.word().into());
    let reasons = match &explanation.ruling {
        Ruling::Allow => Vec::new(),
        Ruling::RequireApproval { requirements } | Ruling::Escalate { requirements } => {
            object.insert("requirements".into(), json!(requirements));
            let said = |asker: &bailiwick_policy::Asker| {
                asker.reason.as_ref().map(|reason| json!({ "policy": asker.policy, "message": reason }))
            };
            requirements.asked_by.iter().filter_map(said).collect()
        }
        Ruling::Deny { reasons } => reasons.iter().map(|reason| json!(reason)).collect(),
        Ruling::Error { message } => vec![json!({ "message": message })],
    };
    object.insert("reasons".into(), reasons.into());
    let considered = explanation.considered.iter().map(|found| considered_json(context, loaded, found));
    object.insert("considered".into(), considered.collect());
    object.insert("agent".into(), bound.agent.to_string().into());
    object.insert("tool".into(), bound.binding.wire_name.to_string().into());
    object.insert("phase".into(), args.phase.as_str().into());
    object.insert("snapshot".into(), loaded.digest.to_string().into());
    Value::Object(object)
}

fn considered_json(context: &Context<'_, '_>, loaded: &Loaded, found: &Considered) -> Value {
    let mut object = Map::new();
    object.insert("policy".into(), found.policy.to_string().into());
    object.insert("decision".into(), found.decision.as_str().into());
    object.insert("attached_by".into(), json!(found.attached_by));
    object.insert("result".into(), truth_word(found.truth).into());
    object.insert("applies".into(), found.applies.into());
    let clauses = found.clauses.iter().map(|clause| {
        let mut object = Map::new();
        object.insert("condition".into(), clause.text.clone().into());
        object.insert("field".into(), clause.field.clone().into());
        if let Some(value) = &clause.value {
            object.insert("value".into(), value.clone());
        }
        object.insert("result".into(), truth_word(clause.truth).into());
        if let Some(place) = Place::of(context, loaded, &found.policy, Some(clause.at)) {
            place.write(&mut object);
        }
        Value::Object(object)
    });
    object.insert("clauses".into(), clauses.collect());
    if let Some(place) = Place::of(context, loaded, &found.policy, None) {
        place.write(&mut object);
    }
    Value::Object(object)
}
