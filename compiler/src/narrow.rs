//! Narrowing: every grant within its origin, with evidence.
//!
//! A binding may only narrow the contract it grants. What is enforced is the conjunction of both schemas, so it can
//! never widen; the check is on what the author *meant*, so that nobody believes to have granted what is refused.
//! "Cannot prove" is a refusal.

use std::collections::BTreeSet;
use std::sync::Arc;

use bailiwick_bundles::documents::phrony::SideEffectClass;
use bailiwick_bundles::{Diagnostic, LogicalId, Outcome, SchemaSource, code};
use bailiwick_narrowing::{
    Budget, Reason, Schema, Verdict, Witness, contains, effective, emptiness_proof, intent,
};
use bailiwick_snapshots::{InputNarrowing, Narrowing};
use serde_json::{Value, json};

use crate::link::{LinkedBinding, Program};
use crate::manifest::ToolManifest;
use crate::session::Session;

/// A program whose grants are known to narrow.
#[derive(Debug)]
pub struct Narrowed {
    program: Program,
    /// By agent, by binding.
    bindings: Vec<Vec<NarrowedBinding>>,
}

/// What is enforced at a binding.
#[derive(Debug)]
pub struct NarrowedBinding {
    /// The effective input schema.
    pub input: Value,
    /// The effective class.
    pub class: SideEffectClass,
    /// How it is known that the binding narrows.
    pub narrowing: Narrowing,
}

impl Narrowed {
    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What is enforced, by agent and binding of the program.
    pub fn bindings(&self) -> &[Vec<NarrowedBinding>] {
        &self.bindings
    }
}

/// Checks every binding of `program`.
pub(crate) fn narrow(session: &mut Session, program: Program) -> Outcome<Narrowed> {
    let before = session.diagnostics.len();
    let mut said_assumed = BTreeSet::new();
    let bindings = program
        .agents
        .iter()
        .map(|agent| {
            agent.bindings.iter().map(|binding| check(session, binding, &mut said_assumed)).collect()
        })
        .collect();
    for tool in program.tools.values().filter(|_| program.agents.is_empty()) {
        assumed(session, tool, &mut said_assumed);
    }
    Outcome::new(Some(Narrowed { program, bindings }), session.diagnostics.split_off(before))
}

fn check(
    session: &mut Session,
    binding: &LinkedBinding,
    said_assumed: &mut BTreeSet<LogicalId>,
) -> NarrowedBinding {
    let Some(tool) = &binding.tool else {
        if let Some(own) = &binding.input {
            warn_if_empty(session, binding, own, own.value());
        }
        // The binding is the contract. Where it lacks a schema or class, reading has said so.
        return NarrowedBinding {
            input: binding.input.as_ref().map_or(Value::Bool(false), |source| source.value().clone()),
            class: binding.class.unwrap_or(SideEffectClass::IrreversibleAction),
            narrowing: Narrowing { input: InputNarrowing::Own, proof: None, class_from: None },
        };
    };
    assumed(session, tool, said_assumed);
    let (input, kind, proof) = match &binding.input {
        None => {
            warn_if_empty(session, binding, &tool.input, tool.input.value());
            (tool.input.value().clone(), InputNarrowing::Same, None)
        }
        Some(own) => {
            let proof = check_input(session, binding, tool, own);
            let input = effective(tool.input.value(), own.value());
            // Where the binding is refused, that is the fault to mend.
            if proof.is_some() {
                warn_if_empty(session, binding, own, &input);
            }
            (input, InputNarrowing::Narrower, proof)
        }
    };
    let declared = tool.effective_class();
    let class = binding.class.unwrap_or(declared);
    if class < declared && !case_allows(session, tool, &input, class, binding) {
        milder(session, binding, tool, class);
    }
    let class_from = (class != declared).then_some(declared);
    NarrowedBinding { input, class, narrowing: Narrowing { input: kind, proof, class_from } }
}

fn assumed(session: &mut Session, tool: &ToolManifest, said: &mut BTreeSet<LogicalId>) {
    if tool.class.is_some() || !said.insert(tool.head.id.clone()) {
        return;
    }
    // A class that could not be read is not one that was left out.
    if session.origins.span(tool.class_origin).is_some_and(|span| session.has_said(span.file)) {
        return;
    }
    let diagnostic = Diagnostic::new(
        &code::ASSUMED_CLASS,
        format!("`{}` has no side-effect class; `non_idempotent_write` is assumed", tool.head.id),
    );
    let diagnostic = session.label(diagnostic, tool.class_origin, "never silently run twice");
    session.push(diagnostic.help("add `side_effect_class` to the Tool"));
}

/// Checks that what the binding means is within the contract; gives the name of the proof.
fn check_input(
    session: &mut Session,
    binding: &LinkedBinding,
    tool: &ToolManifest,
    own: &SchemaSource,
) -> Option<String> {
    let meant = SchemaSource::synthetic(intent(tool.input.value(), own.value()));
    let outer = session.compile(&tool.input, tool.head.origin)?;
    let inner = session.compile(&meant, binding.origin)?;
    match contains(&outer, &inner, &Budget::default()) {
        Verdict::Contained(proof) => Some(proof.summary().to_owned()),
        Verdict::Escapes(witness) => {
            widened(session, binding, tool, own, &witness);
            None
        }
        Verdict::Undecided(reason) => {
            undecided(session, binding, tool, own, &reason);
            None
        }
    }
}

/// Says where no call can pass: most likely not what the author of `own` meant.
fn warn_if_empty(session: &mut Session, binding: &LinkedBinding, own: &SchemaSource, input: &Value) {
    let Some(schema) = session.compile(&SchemaSource::synthetic(input.clone()), binding.origin) else {
        return;
    };
    let Some(proof) = emptiness_proof(&schema, &Budget::default()) else { return };
    let place = |pointer: &str| {
        let (subschema, _) = pointer.rsplit_once('/')?;
        [pointer, subschema]
            .into_iter()
            .filter(|pointer| !pointer.is_empty())
            .find_map(|pointer| own.span(pointer))
    };
    let span = proof.rules().iter().find_map(|rule| place(&rule.pointer)).or_else(|| own.span(""));
    let diagnostic = Diagnostic::new(&code::EMPTY, format!("`{}` accepts no call at all", binding.wire_name));
    let diagnostic = match span {
        Some(span) => diagnostic.label(span, "no value is left here"),
        None => session.label(diagnostic, binding.origin, "no value is left here"),
    };
    session.push(
        diagnostic.help("loosen the schema so that some call passes, or remove the tool from the agent"),
    );
}

/// Keywords that close an object: what escapes them is a name that the inner object leaves open.
const OPEN_CONTENT: [&str; 4] =
    ["additionalProperties", "unevaluatedProperties", "patternProperties", "propertyNames"];

fn widened(
    session: &mut Session,
    binding: &LinkedBinding,
    tool: &ToolManifest,
    own: &SchemaSource,
    witness: &Witness,
) {
    let offence = witness.offence();
    let contract = tool.head.key();
    let mut diagnostic = Diagnostic::new(
        &code::WIDENED,
        format!("`{}` accepts calls that `{contract}` does not", binding.wire_name),
    );
    // Where the checker names no place in the binding, the nearest one on the way to the contract's keyword is meant.
    let place = offence.inner_pointer.as_deref().unwrap_or(&offence.outer_pointer);
    let keyword = format!("{place}/{}", offence.keyword);
    let inner = if own.value().pointer(&keyword).is_some() { keyword.as_str() } else { place };
    diagnostic = match own.span(inner) {
        Some(span) => diagnostic.label(span, says(own.value(), inner, "this lets it through")),
        None => session.label(diagnostic, binding.origin, "this lets it through"),
    };
    let mut limit = says(tool.input.value(), &offence.outer_pointer, "does not");
    // What one alternative says is not all that the contract allows.
    if ["anyOf", "oneOf"].iter().any(|union| offence.outer_pointer.contains(&format!("/{union}/"))) {
        limit.push_str(" in one of its alternatives");
    }
    diagnostic = match tool.input.span(&offence.outer_pointer) {
        Some(span) => diagnostic.label(span, format!("the contract {limit}")),
        None => diagnostic.note(format!("the contract {limit}: {}", offence.message)),
    };
    if !offence.instance_path.is_empty() {
        diagnostic = diagnostic.note(format!("at `{}`: {}", offence.instance_path, offence.message));
    }
    if OPEN_CONTENT.contains(&offence.keyword.as_str()) {
        diagnostic = diagnostic
            .note("open content model: the binding's object takes names that the contract does not");
    }
    let help = advice(&offence.keyword, tool.input.value(), &offence.outer_pointer);
    session.push(
        diagnostic
            .example(witness.instance().to_string())
            .help(format!("{help}, or publish a tool version that allows more")),
    );
}

fn undecided(
    session: &mut Session,
    binding: &LinkedBinding,
    tool: &ToolManifest,
    own: &SchemaSource,
    reason: &Reason,
) {
    let contract = tool.head.key();
    let mut diagnostic = Diagnostic::new(
        &code::UNDECIDED,
        format!("cannot prove that `{}` accepts no more than `{contract}`", binding.wire_name),
    );
    let is_named = !reason.keyword.is_empty();
    let defeats =
        if is_named { format!("`{}` defeats the proof", reason.keyword) } else { "not proven".to_owned() };
    let stands_at = |pointer: &Option<String>| {
        let last = pointer.as_deref().and_then(|pointer| pointer.rsplit('/').next());
        is_named && last == Some(&*reason.keyword)
    };
    let (in_own, in_tool) = (stands_at(&reason.inner_pointer), stands_at(&reason.outer_pointer));
    let inner =
        reason.inner_pointer.as_deref().and_then(|pointer| own.span(pointer)).or_else(|| own.origin());
    let text = if in_own || !in_tool { defeats.as_str() } else { "compared with this" };
    diagnostic = match inner {
        Some(span) => diagnostic.label(span, text),
        None => session.label(diagnostic, binding.origin, "this binding"),
    };
    if let Some(span) = reason.outer_pointer.as_deref().and_then(|pointer| tool.input.span(pointer)) {
        let text =
            if in_tool && !in_own { format!("the contract: {defeats}") } else { "the contract".to_owned() };
        diagnostic = diagnostic.label(span, text);
    }
    session.push(diagnostic.note(reason.message.clone()).help(reason.advice.clone()));
}

/// What a schema says at a pointer, as the rest of a sentence.
fn says(schema: &Value, pointer: &str, otherwise: &str) -> String {
    let keyword = pointer.rsplit('/').next().unwrap_or("");
    let Some(value) = schema.pointer(pointer) else { return otherwise.to_owned() };
    match keyword {
        "maximum" => format!("allows up to {value}"),
        "minimum" => format!("allows {value} and more"),
        "exclusiveMaximum" => format!("allows less than {value}"),
        "exclusiveMinimum" => format!("allows more than {value}"),
        "maxLength" => format!("allows up to {}", count(value, "character")),
        "minLength" => format!("allows {} and more", count(value, "character")),
        "maxItems" => format!("allows up to {}", count(value, "item")),
        "minItems" => format!("allows {} and more", count(value, "item")),
        "enum" => "allows these values".to_owned(),
        "const" => format!("allows only {value}"),
        "type" => format!("allows {}", listed(value, "", " or ")),
        "required" if *value == json!([]) => "requires none".to_owned(),
        "required" => format!("requires {}", listed(value, "`", ", ")),
        "pattern" => "allows this pattern".to_owned(),
        "additionalProperties" if *value == Value::Bool(false) => "allows no other properties".to_owned(),
        _ => otherwise.to_owned(),
    }
}

/// `1 item`, `2 items`.
fn count(n: &Value, word: &str) -> String {
    format!("{n} {word}{}", if n.as_u64() == Some(1) { "" } else { "s" })
}

/// One text, or several.
fn listed(value: &Value, quote: &str, between: &str) -> String {
    let texts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let texts = texts.iter().map(|text| {
        let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
        format!("{quote}{text}{quote}")
    });
    texts.collect::<Vec<_>>().join(between)
}

fn advice(keyword: &str, contract: &Value, pointer: &str) -> String {
    let value = contract.pointer(pointer);
    match (keyword, value) {
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", Some(value)) => {
            format!("set `{keyword}` to {value} or less")
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", Some(value)) => {
            format!("set `{keyword}` to {value} or more")
        }
        ("enum" | "const", _) => "leave only values of the contract".to_owned(),
        ("required", Some(value)) => format!("require what the contract does: {value}"),
        ("additionalProperties" | "unevaluatedProperties", _) => {
            "declare no property that the contract lacks".to_owned()
        }
        _ => format!("keep to the contract's `{keyword}`"),
    }
}

/// Whether a case of the tool grants the milder class for all that the binding accepts.
fn case_allows(
    session: &mut Session,
    tool: &ToolManifest,
    input: &Value,
    class: SideEffectClass,
    binding: &LinkedBinding,
) -> bool {
    let own = SchemaSource::synthetic(input.clone());
    tool.cases.iter().filter(|case| case.class <= class).any(|case| {
        let Some(outer) = session.compile(&case.when, tool.head.origin) else { return false };
        let Some(inner) = session.compile(&own, binding.origin) else { return false };
        proven(&outer, &inner)
    })
}

fn proven(outer: &Arc<Schema>, inner: &Arc<Schema>) -> bool {
    match contains(outer, inner, &Budget::default()) {
        Verdict::Contained(_) => true,
        Verdict::Escapes(_) | Verdict::Undecided(_) => false,
    }
}

fn milder(session: &mut Session, binding: &LinkedBinding, tool: &ToolManifest, class: SideEffectClass) {
    let declared = tool.effective_class();
    let diagnostic = Diagnostic::new(
        &code::SIDE_EFFECT_WIDENED,
        format!("`{}` is `{class}`, milder than `{}`", binding.wire_name, tool.head.key()),
    );
    let diagnostic = session.label(diagnostic, binding.class_origin, recovery(class));
    let assumed = if tool.class.is_some() { "" } else { " (assumed)" };
    let diagnostic = session.label(
        diagnostic,
        tool.class_origin,
        format!("`{declared}`{assumed}: {}", recovery(declared)),
    );
    session.push(diagnostic.help(format!("write `{declared}` or a stricter class, or leave it out")));
}

fn recovery(class: SideEffectClass) -> &'static str {
    match class {
        SideEffectClass::ReadOnly => "may be run again freely",
        SideEffectClass::IdempotentWrite => "may be run again with the same call id",
        SideEffectClass::NonIdempotentWrite => "must never silently run twice",
        SideEffectClass::IrreversibleAction => "only a person decides on another run",
    }
}
