//! What an Agent, read alone, can get wrong beyond single fields.

use std::collections::BTreeMap;

use super::super::Reference;
use super::{AgentDocument, AuthScheme, Binding, McpServer, Model, OutputFormat};
use crate::credential::{credential_shape, refuse_credential};
use crate::decode::{Decoder, refuse_ambiguous};
use crate::diagnostics::{Diagnostic, code};
use crate::names::{did_you_mean, nearest};
use crate::source::Spanned;

const OPENAI_COMPATIBLE: &str = "openai-compatible";

pub(super) fn check(agent: &AgentDocument, cx: &mut Decoder<'_>) {
    if let Some(model) = &agent.spec.model {
        check_model(model, cx);
        check_model_secret(agent, model, cx);
    }
    for binding in &agent.spec.tools {
        check_mcp_binding(agent, binding, cx);
    }
    check_servers(agent, cx);
    check_environment(agent, cx);
    check_output(agent, cx);
}

fn check_model(model: &Model, cx: &mut Decoder<'_>) {
    let compatible = model.provider.value == OPENAI_COMPATIBLE;
    match &model.base_url {
        Some(url) if !compatible => cx.push(
            Diagnostic::new(
                &code::EXCLUSIVE_FIELDS,
                format!("`base_url` goes with provider `{OPENAI_COMPATIBLE}` only"),
            )
            .label(url.span, "not with this provider")
            .label(model.provider.span, format!("`{}` has its own address", model.provider.value))
            .help(format!("remove `base_url`, or set `provider: {OPENAI_COMPATIBLE}`")),
        ),
        Some(url) => {
            check_url(url, &["https://", "http://"], "should begin with `https://` or `http://`", cx);
        }
        None if compatible => cx.push(
            Diagnostic::new(
                &code::MISSING_FIELD,
                format!("provider `{OPENAI_COMPATIBLE}` needs a `base_url`"),
            )
            .label(model.provider.span, "has no address of its own")
            .help("add `base_url`"),
        ),
        None => {}
    }
    if let Some(parameters) = &model.parameters {
        if let (Some(temperature), Some(top_p)) = (&parameters.temperature, &parameters.top_p) {
            cx.push(
                Diagnostic::new(&code::EXCLUSIVE_FIELDS, "`temperature` and `top_p` exclude each other")
                    .label(top_p.span, "one way to sample")
                    .label(temperature.span, "and another")
                    .help("keep one of them"),
            );
        }
        check_range(parameters.temperature.as_ref(), 0.0..=2.0, cx);
        check_range(parameters.top_p.as_ref(), 0.0..=1.0, cx);
    }
    if let Some(options) = &model.provider_options {
        if options.as_mapping().is_none() {
            cx.wrong_type(options, "a map");
        }
        refuse_ambiguous(options, &mut cx.diagnostics);
    }
}

fn check_range(
    number: Option<&Spanned<serde_json::Number>>,
    range: std::ops::RangeInclusive<f64>,
    cx: &mut Decoder<'_>,
) {
    let Some(number) = number else { return };
    if !number.value.as_f64().is_some_and(|value| range.contains(&value)) {
        let (low, high) = (range.start(), range.end());
        cx.push(
            Diagnostic::new(&code::INVALID_VALUE, format!("`{}` is out of range", number.value))
                .label(number.span, format!("should be from {low} to {high}")),
        );
    }
}

/// With `secrets` present, the model's secret must be one of them.
fn check_model_secret(agent: &AgentDocument, model: &Model, cx: &mut Decoder<'_>) {
    match (&model.secret, &agent.secrets) {
        (Some(secret), _) => check_secret(agent, secret, cx),
        (None, Some(secrets)) => {
            if !secrets.names().any(|name| name == model.provider.value) {
                cx.push(
                    Diagnostic::new(
                        &code::UNKNOWN_SECRET,
                        format!("no secret opens the model: none is called `{}`", model.provider.value),
                    )
                    .label(model.provider.span, "needs a secret")
                    .help("name a key of `secrets` with `model.secret`"),
                );
            }
        }
        (None, None) => {}
    }
}

fn check_secret(agent: &AgentDocument, secret: &Spanned<String>, cx: &mut Decoder<'_>) {
    let known = || agent.secrets.iter().flat_map(super::Secrets::names);
    if known().any(|name| name == secret.value) {
        return;
    }
    let near = nearest(&secret.value, known());
    cx.push(
        Diagnostic::new(&code::UNKNOWN_SECRET, format!("no secret `{}` is declared", secret.value))
            .label(secret.span, did_you_mean(near, "not in `secrets`"))
            .help(format!("declare it: `secrets: {{{}: {{fromEnv: …}}}}`", secret.value)),
    );
}

/// A binding backed by MCP has no Tool document, so it must bring the whole contract itself.
fn check_mcp_binding(agent: &AgentDocument, binding: &Binding, cx: &mut Decoder<'_>) {
    let Some(mcp) = &binding.mcp else { return };
    match &binding.reference.value {
        Reference::Logical { constraint: None, .. } => {}
        Reference::Logical { id, constraint: Some(_) } => cx.push(
            Diagnostic::new(&code::EXCLUSIVE_FIELDS, "a binding backed by MCP cannot be pinned with `@`")
                .label(binding.reference.span, "there is no Tool document to pin")
                .help(format!("write `{id}`")),
        ),
        Reference::Path(path) => cx.push(
            Diagnostic::new(
                &code::EXCLUSIVE_FIELDS,
                format!("`{path}` and `mcp` are two sources of one tool"),
            )
            .label(binding.reference.span, "a Tool document")
            .label(mcp.span, "an MCP tool")
            .help("name the tool by `namespace.name`, or remove `mcp`"),
        ),
    }
    for (absent, field) in [
        (binding.input_schema.is_none(), "input_schema"),
        (binding.side_effect_class.is_none(), "side_effect_class"),
    ] {
        if absent {
            cx.push(
                Diagnostic::new(&code::MISSING_FIELD, format!("a binding backed by MCP needs `{field}`"))
                    .label(binding.reference.span, "no Tool document declares it")
                    .help(format!("add `{field}` to the binding: it is the contract")),
            );
        }
    }
    for name in [&mcp.server, &mcp.tool] {
        if name.value.trim().is_empty() {
            cx.push(
                Diagnostic::new(&code::INVALID_VALUE, "an MCP name is empty").label(name.span, "no name"),
            );
        }
    }
    let known = || agent.spec.mcp_servers.iter().map(|server| server.name.value.as_str());
    if !known().any(|name| name == mcp.server.value) {
        let near = nearest(&mcp.server.value, known());
        cx.push(
            Diagnostic::new(
                &code::UNKNOWN_SERVER,
                format!("no MCP server `{}` is declared", mcp.server.value),
            )
            .label(mcp.server.span, did_you_mean(near, "not declared"))
            .help("declare it under `spec.mcp_servers`"),
        );
    }
}

/// A name that no environment can hold would leave the secret empty at run time.
fn check_environment(agent: &AgentDocument, cx: &mut Decoder<'_>) {
    for (_, secret) in agent.secrets.iter().flat_map(|secrets| &secrets.0) {
        let name = &secret.from_env.value;
        let fits = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !fits {
            cx.push(
                Diagnostic::new(&code::INVALID_VALUE, "this is no name of an environment variable")
                    .label(secret.from_env.span, "letters, digits and `_`, not a digit first")
                    .help("name the variable that holds the secret at run time, such as `fromEnv: OPENAI_API_KEY`"),
            );
        }
        refuse_credential(name, secret.from_env.span, &mut cx.diagnostics);
    }
}

fn check_servers(agent: &AgentDocument, cx: &mut Decoder<'_>) {
    let mut seen: BTreeMap<&str, &McpServer> = BTreeMap::new();
    for server in &agent.spec.mcp_servers {
        if let Some(first) = seen.insert(&server.name.value, server) {
            cx.push(
                Diagnostic::new(
                    &code::DUPLICATE_SERVER,
                    format!("two MCP servers are called `{}`", server.name.value),
                )
                .label(server.name.span, "again here")
                .label(first.name.span, "first here")
                .help("rename one of them"),
            );
        }
        check_url(&server.url, &["https://"], "should begin with `https://`", cx);
        let Some(auth) = &server.auth else { continue };
        check_secret(agent, &auth.secret, cx);
        match (auth.scheme.value, &auth.header) {
            (AuthScheme::Header, None) => cx.push(
                Diagnostic::new(&code::MISSING_FIELD, "scheme `header` needs the header's name")
                    .label(auth.scheme.span, "which header?")
                    .help("add `header`, such as `header: X-Api-Key`"),
            ),
            (AuthScheme::Bearer, Some(header)) => cx.push(
                Diagnostic::new(&code::EXCLUSIVE_FIELDS, "`header` goes with scheme `header` only")
                    .label(header.span, "not with `bearer`")
                    .help("remove `header`, or set `scheme: header`"),
            ),
            (AuthScheme::Header, Some(header)) => check_header(header, cx),
            (AuthScheme::Bearer, None) => {}
        }
    }
}

/// The name of a header field (RFC 9110, section 5.1: a token).
fn check_header(header: &Spanned<String>, cx: &mut Decoder<'_>) {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if header.value.is_empty() || !header.value.bytes().all(token) {
        cx.push(
            Diagnostic::new(&code::INVALID_VALUE, format!("`{}` is no name of a header", header.value))
                .label(header.span, "letters, digits and `-`"),
        );
    }
}

fn check_url(url: &Spanned<String>, schemes: &[&str], wanted: &str, cx: &mut Decoder<'_>) {
    // That is said of every text, and its address would be repeated in the message here.
    if credential_shape(&url.value).is_some() {
        return;
    }
    let host = schemes.iter().find_map(|scheme| url.value.strip_prefix(scheme));
    let has_host = host.is_some_and(|rest| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
        !authority.is_empty() && !authority.starts_with(':') && !rest.contains(char::is_whitespace)
    });
    if !has_host {
        cx.push(
            Diagnostic::new(&code::INVALID_VALUE, format!("`{}` is no address to use here", url.value))
                .label(url.span, wanted),
        );
    }
}

fn check_output(agent: &AgentDocument, cx: &mut Decoder<'_>) {
    let Some(output) = &agent.output else { return };
    if let (Some(format), Some(schema)) = (&output.format, &output.schema)
        && format.value == OutputFormat::Text
    {
        cx.push(
            Diagnostic::new(&code::EXCLUSIVE_FIELDS, "an output of format `text` has no `schema`")
                .label(schema.span(), "describes JSON")
                .label(format.span, "but the output is text")
                .help("set `format: json`, or remove `schema`"),
        );
    }
}
