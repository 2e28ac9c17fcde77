//! Texts that look like a credential.
//!
//! Documents and schemas end up in snapshots, which are meant to be shared, so a secret pasted into one is refused.
//! Only shapes with a published, unmistakable form are listed: a false alarm here blocks a release.

use crate::diagnostics::{Diagnostic, code};
use crate::node::Node;
use crate::source::Span;

/// What kind of credential `text` looks like.
pub fn credential_shape(text: &str) -> Option<&'static str> {
    const PREFIXES: &[(&str, usize, &str)] = &[
        ("sk-", 20, "an API key"),
        ("sk_live_", 16, "a payment key"),
        ("rk_live_", 16, "a payment key"),
        ("ghp_", 36, "a GitHub token"),
        ("gho_", 36, "a GitHub token"),
        ("ghs_", 36, "a GitHub token"),
        ("github_pat_", 22, "a GitHub token"),
        ("glpat-", 20, "a GitLab token"),
        ("xoxb-", 20, "a Slack token"),
        ("xoxp-", 20, "a Slack token"),
        ("AIza", 35, "a Google API key"),
        ("AKIA", 16, "an AWS access key"),
        ("ASIA", 16, "an AWS access key"),
        ("npm_", 36, "an npm token"),
        ("hf_", 30, "a Hugging Face token"),
    ];
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return Some("a private key");
    }
    let has_password = |rest: &str| {
        let authority = rest.split(['/', '?', '#']).next().unwrap_or("");
        authority.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
    };
    if text.split("://").skip(1).any(has_password) {
        return Some("a URL with a password");
    }
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '=' | ',' | ';' | ':')).find_map(
        |word| {
            let shaped = |tail: &str, least: usize| {
                tail.len() >= least
                    && tail.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
            };
            PREFIXES
                .iter()
                .find(|(prefix, least, _)| {
                    word.strip_prefix(prefix).is_some_and(|tail| {
                        shaped(tail, *least)
                            && tail.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
                    })
                })
                .map(|(_, _, what)| *what)
                .or_else(|| is_json_web_token(word).then_some("a JSON web token"))
        },
    )
}

/// `eyJ…`.`eyJ…`.signature: two Base64 objects and a third part.
fn is_json_web_token(word: &str) -> bool {
    let mut parts = word.split('.');
    let part = |text: Option<&str>| text.is_some_and(|text| text.starts_with("eyJ") && text.len() > 8);
    part(parts.next())
        && part(parts.next())
        && parts.next().is_some_and(|text| text.len() > 8)
        && parts.next().is_none()
}

/// Reports a text that looks like a credential. The text itself is not repeated in the message.
pub(crate) fn refuse_credential(text: &str, span: Span, diagnostics: &mut Vec<Diagnostic>) {
    if let Some(what) = credential_shape(text) {
        diagnostics.push(
            Diagnostic::new(&code::LOOKS_LIKE_CREDENTIAL, format!("this value looks like {what}"))
                .label(span, "would be published with the snapshot")
                .help("remove it and revoke it; name secrets under `secrets` with `fromEnv`"),
        );
    }
}

/// [`refuse_credential`] for every string below `node`.
pub(crate) fn refuse_credentials_below(node: &Node, diagnostics: &mut Vec<Diagnostic>) {
    node.each_string(&mut |text, span| refuse_credential(&text.text, span, diagnostics));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_credentials() {
        for (text, expected) in [
            ("AKIAIOSFODNN7EXAMPLE", Some("an AWS access key")),
            ("token ghp_0123456789abcdefghijABCDEFGHIJ012345", Some("a GitHub token")),
            ("https://user:hunter2@example.com/x", Some("a URL with a password")),
            ("not http://example.com but http://user:hunter2@example.com", Some("a URL with a password")),
            ("https://example.com/@user:x", None),
            ("sk-is-short", None),
            ("task-force-of-twenty-and-more-words", None),
            ("risk-sk-learn-based-classification-model", None),
            ("weather-platform", None),
        ] {
            assert_eq!(credential_shape(text), expected, "{text}");
        }
    }
}
