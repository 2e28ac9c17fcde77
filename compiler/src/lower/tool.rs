//! `kind: Tool`.

use std::sync::Arc;

use bailiwick_bundles::documents::phrony::{Predicate, SideEffectClass, ToolDocument};
use bailiwick_bundles::{Decode, Decoder, Diagnostic, Node, code};

use super::{Content, Place, head, pointer, policies, schema};
use crate::manifest::{SideEffectCase, ToolManifest};
use crate::session::Session;

pub(super) fn lower(
    session: &mut Session,
    place: Place<'_>,
    tool: &ToolDocument,
    content: &mut Content,
) -> Option<ToolManifest> {
    let spec = &tool.spec;
    let input = schema(session, place, &spec.input_schema, &pointer(&["spec", "input_schema"]), content);
    let output = spec
        .output_schema
        .as_ref()
        .and_then(|object| schema(session, place, object, &pointer(&["spec", "output_schema"]), content));
    let cases = spec.extensions.get(CASES).map_or_else(Vec::new, |node| cases(session, place, node, content));
    let head = head::lower(session, place, &tool.metadata, &content.value)?;
    let class_span = spec.side_effect_class.as_ref().map_or(tool.metadata.name.span, |class| class.span);
    let mut requires_capabilities: Vec<String> = spec
        .available_when
        .iter()
        .map(|predicate| match &predicate.value {
            Predicate::Capability(capability) => capability.clone(),
        })
        .collect();
    requires_capabilities.sort();
    requires_capabilities.dedup();
    Some(ToolManifest {
        description: spec.description.as_ref().map(|text| text.value.clone()),
        class: spec.side_effect_class.as_ref().map(|class| class.value),
        class_origin: session.origin(class_span),
        input: input?,
        output,
        default_policies: policies(session, &spec.default_policies),
        requires_capabilities,
        strict: spec.strict.as_ref().map(|strict| strict.value),
        on_failure: spec.on_failure.as_ref().map(|text| text.value.clone()),
        terminal: spec.terminal.as_ref().map(|terminal| terminal.value),
        cases,
        head,
    })
}

/// The key under which a Tool grants a milder class for part of its input.
const CASES: &str = "x-side-effect-cases";

/// `[{when: schema, class: word}]`.
fn cases(session: &mut Session, place: Place<'_>, node: &Node, content: &mut Content) -> Vec<SideEffectCase> {
    let Some(items) = node.as_sequence() else {
        session.push(
            Diagnostic::new(&code::INVALID_VALUE, format!("`{CASES}` is a list of `when` and `class`"))
                .label(node.span, format!("{} is no list", node.describe())),
        );
        return Vec::new();
    };
    items.iter().enumerate().filter_map(|(at, item)| case(session, place, item, at, content)).collect()
}

fn case(
    session: &mut Session,
    place: Place<'_>,
    item: &Node,
    at: usize,
    content: &mut Content,
) -> Option<SideEffectCase> {
    let entries = item.as_mapping().unwrap_or(&[]);
    let stray = entries.iter().find(|(key, _)| !["when", "class"].contains(&key.value.as_str()));
    let (Some(when), Some(class), None) = (item.get("when"), item.get("class"), stray) else {
        let span = stray.map_or(item.span, |(key, _)| key.span);
        session.push(
            Diagnostic::new(&code::INVALID_VALUE, format!("an entry of `{CASES}` is `when` and `class`"))
                .label(span, "not this")
                .help("write `{when: <schema of the input>, class: read_only}`"),
        );
        return None;
    };
    let mut decoder = Decoder::new(&session.sources);
    let class = SideEffectClass::decode(class, &mut decoder);
    let mut found = decoder.diagnostics;
    session.diagnostics.append(&mut found);
    let source = session.bundle_schema(place.folder, place.path, &Arc::new(when.clone()));
    content.set(&pointer(&["spec", CASES, &at.to_string(), "when"]), source.value().clone());
    let origin = session.origin(when.span);
    session.compile(&source, origin)?;
    Some(SideEffectCase { when: Arc::new(source), class: class? })
}
