//! `metadata`, the same for every kind.
//!
//! Only `governance.authority_boundaries` is enforced; the rest is evidence.

use super::keywords;
use crate::decode::{Decode, Decoder, document, none_refused, refuse_ambiguous};
use crate::diagnostics::{Diagnostic, code};
use crate::names::{BoundaryId, LogicalId, Name, nearest};
use crate::node::Node;
use crate::source::Spanned;
use crate::version::Version;

document! {
    /// Who the document is.
    pub struct Metadata as "`metadata`", refusing none_refused {
        /// The name within the namespace.
        "name" => name: Spanned<Name>,
        /// The namespace, owned by one catalog.
        "namespace" => namespace: Spanned<Name>,
        /// Semantic version of this document.
        "version" => version: Spanned<Version>,
        /// Who answers for it; descriptive.
        "owner" => owner: Option<Spanned<String>>,
        /// Descriptive labels.
        "labels" => labels: Option<StringMap>,
        /// Descriptive annotations.
        "annotations" => annotations: Option<StringMap>,
        /// Risk, boundaries and frameworks.
        "governance" => governance: Option<Governance>,
    }
}

impl Metadata {
    /// `namespace.name`.
    pub fn id(&self) -> LogicalId {
        LogicalId::new(self.namespace.value.clone(), self.name.value.clone())
    }

    /// The authority boundaries, if any.
    pub fn boundaries(&self) -> &[Spanned<BoundaryId>] {
        self.governance.as_ref().map_or(&[], |governance| &governance.authority_boundaries)
    }

    /// The annotation at `key`.
    pub fn annotation(&self, key: &str) -> Option<&Spanned<String>> {
        self.annotations.as_ref()?.0.iter().find(|(k, _)| k.value == key).map(|(_, value)| value)
    }
}

document! {
    /// Governance of a document.
    pub struct Governance as "`governance`", refusing none_refused {
        /// Descriptive risk tier.
        "risk_tier" => risk_tier: Option<Spanned<String>>,
        /// Descriptive classifications.
        "classifications" => classifications: Vec<Spanned<String>>,
        /// Boundaries compiled to policies at publish (on a Policy: the boundaries it implements).
        "authority_boundaries" => authority_boundaries: Vec<Spanned<BoundaryId>>,
        /// Framework packs, `pack/vN` to payload.
        "frameworks" => frameworks: Option<Frameworks>,
    }
}

/// Strings by name, in the order written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StringMap(pub Vec<(Spanned<String>, Spanned<String>)>);

impl Decode for StringMap {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let Some(entries) = node.as_mapping() else {
            cx.wrong_type(node, "a map of strings");
            return None;
        };
        let mut map = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            if let Some(text) = Spanned::<String>::decode(value, cx) {
                map.push((key.clone(), text));
            }
        }
        Some(Self(map))
    }
}

impl schemars::JsonSchema for StringMap {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StringMap".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "additionalProperties": { "type": "string" } })
    }
}

/// A framework pack of `governance.frameworks`.
#[derive(Clone, Debug, PartialEq)]
pub struct Framework {
    /// `pack/vN`.
    pub pack: Spanned<String>,
    /// The payload, as written.
    pub payload: Node,
    /// Whether the pack is known and the payload was validated.
    pub validated: bool,
}

/// The framework packs of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frameworks(pub Vec<Framework>);

impl schemars::JsonSchema for Frameworks {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Frameworks".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let known = generator.subschema_for::<EuAiAct>();
        schemars::json_schema!({
            "type": "object",
            "properties": { EU_AI_ACT: known },
            "patternProperties": { PACK_PATTERN: {} },
            "additionalProperties": false
        })
    }
}

const EU_AI_ACT: &str = "eu-ai-act/v1";
const PACK_PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9_.-]*/v[0-9]+$";

fn is_pack(text: &str) -> bool {
    text.rsplit_once("/v").is_some_and(|(pack, version)| {
        pack.starts_with(|c: char| c.is_ascii_alphanumeric())
            && pack.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
            && !version.is_empty()
            && version.bytes().all(|b| b.is_ascii_digit())
    })
}

impl Decode for Frameworks {
    fn decode(node: &Node, cx: &mut Decoder<'_>) -> Option<Self> {
        let Some(entries) = node.as_mapping() else {
            cx.wrong_type(node, "a map of `pack/vN` to payload");
            return None;
        };
        let mut packs = Vec::with_capacity(entries.len());
        for (pack, payload) in entries {
            if !is_pack(&pack.value) {
                cx.push(
                    Diagnostic::new(
                        &code::FRAMEWORK_PAYLOAD,
                        format!("`{}` is no framework pack", pack.value),
                    )
                    .label(pack.span, "should be `pack/vN`")
                    .help(format!("name the pack with its version, such as `{EU_AI_ACT}`")),
                );
                continue;
            }
            let validated = pack.value == EU_AI_ACT;
            if validated {
                check_eu_ai_act(payload, cx);
            } else {
                let near = nearest(&pack.value, [EU_AI_ACT]).map(|near| format!("did you mean `{near}`?"));
                cx.push(
                    Diagnostic::new(
                        &code::UNVALIDATED_FRAMEWORK,
                        format!("framework pack `{}` is present but unvalidated", pack.value),
                    )
                    .label(pack.span, "carried as written")
                    .maybe_help(near),
                );
            }
            refuse_ambiguous(payload, &mut cx.diagnostics);
            packs.push(Framework { pack: pack.clone(), payload: payload.clone(), validated });
        }
        Some(Self(packs))
    }
}

document! {
    /// The payload of `eu-ai-act/v1`.
    struct EuAiAct as "`eu-ai-act/v1`", refusing none_refused {
        /// The role under the act.
        "role" => role: Option<Spanned<Role>>,
        /// The category of annex III.
        "annex_iii_category" => annex_iii_category: Option<Spanned<String>>,
    }
}

keywords! {
    /// A role under the EU AI act.
    enum Role as "role under the EU AI act" {
        /// Provider.
        Provider = "provider",
        /// Deployer.
        Deployer = "deployer",
        /// Importer.
        Importer = "importer",
        /// Distributor.
        Distributor = "distributor",
    }
}

/// Faults in a known pack are reported under the pack's own code, whatever kind of fault they are.
fn check_eu_ai_act(payload: &Node, cx: &mut Decoder<'_>) {
    let before = cx.diagnostics.len();
    EuAiAct::decode(payload, cx);
    for diagnostic in cx.diagnostics.iter_mut().skip(before) {
        diagnostic.code = &code::FRAMEWORK_PAYLOAD;
    }
}
