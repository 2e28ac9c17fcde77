//! `kind: Tool`.

use bailiwick_bundles::documents::phrony::{Predicate, ToolDocument};

use super::{Content, Place, head, policies, pointer, schema};
use crate::manifest::ToolManifest;
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
    let extensions = [&tool.extensions, &tool.metadata.extensions, &spec.extensions];
    let head = head::lower(session, place, &tool.metadata, &extensions, &content.value)?;
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
        head,
    })
}
