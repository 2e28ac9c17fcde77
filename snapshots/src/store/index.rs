//! The index: what is published, in order.
//!
//! Every publication reads and writes all of it, so an entry that a store's writer wrote is neither made into a tree
//! nor written anew: it is checked, kept as text, and copied.

use std::borrow::Cow;
use std::collections::BTreeMap;

use bailiwick_bundles::Version;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Entry;
use super::layout::{
    CONTENT, CONTRACT_TYPE, DIGEST, Descriptor, ID, INDEX_TYPE, KIND, MANIFEST_TYPE, OURS, REF_NAME,
    SNAPSHOT_TYPE, VERSION, annotations, due, not_json, text,
};
use crate::canonical::{CanonicalError, is_canonical, key_order, to_canonical};

/// The index: our entries in order, and what other programs put beside them.
#[derive(Debug)]
pub(super) struct Index<'a> {
    /// What it was read from.
    source: &'a [u8],
    /// All members of the document but `manifests`.
    rest: BTreeMap<String, Value>,
    ours: Vec<Listed<'a>>,
    foreign: Vec<Value>,
}

/// One of our entries.
#[derive(Debug)]
struct Listed<'a> {
    entry: Entry,
    /// The stated size of its manifest.
    size: u64,
    /// Its descriptor: borrowed, as it is in the source; owned, canonical.
    text: Cow<'a, str>,
}

impl<'a> Index<'a> {
    pub(super) fn empty() -> Self {
        let rest = [("schemaVersion", Value::from(2)), ("mediaType", Value::from(INDEX_TYPE))];
        Self {
            source: &[],
            rest: rest.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            ours: Vec::new(),
            foreign: Vec::new(),
        }
    }

    /// Reads an index.
    ///
    /// What is wrong with single descriptors, or between them, is returned beside it, all of it; an index that is
    /// none at all is an error.
    pub(super) fn read(bytes: &'a [u8]) -> Result<(Self, Vec<String>), String> {
        let mut members: BTreeMap<String, &RawValue> = serde_json::from_slice(bytes).map_err(|error| {
            if error.is_data() { "it is not an object".to_owned() } else { not_json(&error) }
        })?;
        let descriptors = members.remove("manifests").and_then(|list| serde_json::from_str(list.get()).ok());
        let rest: BTreeMap<String, Value> =
            members.into_iter().map(|(key, raw)| Ok((key, value_of(raw)?))).collect::<Result<_, String>>()?;
        if rest.get("schemaVersion").and_then(Value::as_u64) != Some(2) {
            return Err("its `schemaVersion` is not 2".to_owned());
        }
        // The media type may be absent: OCI image index, "mediaType".
        if rest.get("mediaType").is_some_and(|media_type| media_type != INDEX_TYPE) {
            return Err(format!("its `mediaType` is not `{INDEX_TYPE}`"));
        }
        let descriptors: Vec<&RawValue> = descriptors.ok_or("it has no list `manifests`")?;

        let ours = Vec::with_capacity(descriptors.len() + 1);
        let mut index = Self { source: bytes, rest, ours, foreign: Vec::new() };
        let mut faults = Vec::new();
        for (at, raw) in descriptors.into_iter().enumerate() {
            if let Some(listed) = as_written(raw) {
                index.ours.push(listed);
                continue;
            }
            let value = value_of(raw)?;
            if !is_ours(&value) {
                index.foreign.push(value);
                continue;
            }
            match listed(&value) {
                Ok(listed) => index.ours.push(listed),
                Err(reason) => faults.push(format!("manifest {at} is not a valid entry: {reason}")),
            }
        }
        index.sort();
        index.set_tags_aside()?;
        for pair in index.ours.windows(2) {
            let [Listed { entry: a, .. }, Listed { entry: b, .. }] = pair else { continue };
            if a.id == b.id && a.version.cmp_precedence(&b.version).is_eq() {
                faults.push(format!("`{a}` is listed twice"));
            }
            if a.id == b.id && a.kind != b.kind {
                faults.push(format!("`{}` has the kinds `{}` and `{}`", a.id, a.kind, b.kind));
            }
        }
        Ok((index, faults))
    }

    /// Our entries, by id and version.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.ours.iter().map(|listed| &listed.entry)
    }

    pub(super) fn into_entries(self) -> Vec<Entry> {
        self.ours.into_iter().map(|listed| listed.entry).collect()
    }

    /// The size that our entries' descriptors state for their manifests, in the order of `entries`.
    pub(super) fn manifest_sizes(&self) -> impl Iterator<Item = u64> {
        self.ours.iter().map(|listed| listed.size)
    }

    /// Whether no other program has put anything into the index.
    pub(super) fn is_all_ours(&self) -> bool {
        self.foreign.is_empty()
            && self.rest.keys().all(|key| ["mediaType", "schemaVersion"].contains(&key.as_str()))
    }

    /// The index as a writer makes it from its entries.
    pub(super) fn again(&self) -> Result<Vec<u8>, CanonicalError> {
        let mut anew = Index::empty();
        for listed in &self.ours {
            anew.add(listed.entry.clone(), listed.size)?;
        }
        anew.to_bytes()
    }

    /// The descriptors of other programs.
    pub(super) fn foreign(&self) -> &[Value] {
        &self.foreign
    }

    /// Adds an entry whose manifest has `size` bytes.
    pub(super) fn add(&mut self, entry: Entry, size: u64) -> Result<(), CanonicalError> {
        let text = Cow::Owned(canonical_text(&descriptor(&entry, size))?);
        self.ours.push(Listed { entry, size, text });
        self.sort();
        Ok(())
    }

    /// The whole document, canonical.
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, CanonicalError> {
        let borrowed_is_canonical = is_canonical(self.source);
        let mut descriptors: Vec<Cow<'_, str>> = Vec::with_capacity(self.ours.len() + self.foreign.len());
        for Listed { text, .. } in &self.ours {
            descriptors.push(match text {
                Cow::Borrowed(raw) if !borrowed_is_canonical => Cow::Owned(canonical_again(raw)?),
                Cow::Borrowed(text) => Cow::Borrowed(text),
                Cow::Owned(text) => Cow::Borrowed(text),
            });
        }
        for foreign in &self.foreign {
            descriptors.push(Cow::Owned(canonical_text(foreign)?));
        }
        let mut members = vec![("manifests", ["[", &descriptors.join(","), "]"].concat())];
        for (key, value) in &self.rest {
            members.push((key, canonical_text(value)?));
        }
        members.sort_by(|(a, _), (b, _)| key_order(a, b));
        let mut out = String::new();
        for (key, value) in members {
            out.push(if out.is_empty() { '{' } else { ',' });
            out.push_str(&canonical_text(&Value::from(key))?);
            out.push(':');
            out.push_str(&value);
        }
        out.push('}');
        Ok(out.into_bytes())
    }

    /// A descriptor that repeats an entry is another tag for it, which a registry client put there.
    fn set_tags_aside(&mut self) -> Result<(), String> {
        let mut tags = Vec::new();
        self.ours.dedup_by(|next, kept| {
            // Both are exact but for their tags, so with the same tag they are one entry that is listed twice.
            let is_tag = next.entry == kept.entry
                && next.size == kept.size
                && canonical_again(&next.text) != canonical_again(&kept.text);
            if is_tag {
                tags.push(serde_json::from_str(&next.text).map_err(|error| not_json(&error)));
            }
            is_tag
        });
        for tag in tags {
            self.foreign.push(tag?);
        }
        Ok(())
    }

    fn sort(&mut self) {
        self.ours.sort_by(|Listed { entry: a, .. }, Listed { entry: b, .. }| {
            a.id.cmp(&b.id).then_with(|| a.version.cmp(&b.version)).then_with(|| a.digest.cmp(&b.digest))
        });
    }
}

/// The descriptor of an entry whose manifest has `size` bytes.
fn descriptor(entry: &Entry, size: u64) -> Value {
    let mut noted = annotations(&entry.id, &entry.version, entry.kind, &entry.digest);
    noted.insert(CONTENT.to_owned(), Value::from(entry.content.to_string()));
    noted.insert(REF_NAME.to_owned(), Value::from(ref_name(entry)));
    json!({
        "mediaType": MANIFEST_TYPE,
        "artifactType": entry.kind.media_type(),
        "digest": entry.manifest,
        "size": size,
        "annotations": noted,
    })
}

/// A descriptor without what a reader passes over.
fn without_tag(mut descriptor: Value) -> Value {
    if let Some(noted) = descriptor.get_mut("annotations").and_then(Value::as_object_mut) {
        noted.remove(REF_NAME);
    }
    descriptor
}

/// What a registry client calls the entry. A tag cannot hold `@` or `+`, and an id has exactly one dot, so the
/// name can be taken apart again. Build metadata, which does not tell versions apart, is left out.
fn ref_name(entry: &Entry) -> String {
    let version = &entry.version;
    let (major, minor, patch, pre) =
        (version.major(), version.minor(), version.patch(), version.pre_release());
    let dash = if pre.is_empty() { "" } else { "-" };
    format!("{}-{major}.{minor}.{patch}{dash}{pre}", entry.id)
}

/// Whether a descriptor claims to be one of ours; if it does, it must be a right one.
fn is_ours(descriptor: &Value) -> bool {
    let artifact_type = descriptor.get("artifactType").and_then(Value::as_str);
    let noted = descriptor.get("annotations").and_then(Value::as_object);
    artifact_type
        .is_some_and(|artifact_type| artifact_type == SNAPSHOT_TYPE || artifact_type == CONTRACT_TYPE)
        || noted.is_some_and(|noted| noted.keys().any(|key| key.starts_with(OURS)))
}

/// A descriptor as a store's writer writes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written<'a> {
    media_type: &'a str,
    artifact_type: &'a str,
    digest: &'a str,
    size: u64,
    #[serde(borrow)]
    annotations: Annotations<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Annotations<'a> {
    #[serde(rename = "bailiwick.dev/id")]
    id: &'a str,
    #[serde(rename = "bailiwick.dev/version")]
    version: &'a str,
    #[serde(rename = "bailiwick.dev/kind")]
    kind: &'a str,
    #[serde(rename = "bailiwick.dev/digest")]
    digest: &'a str,
    #[serde(rename = "bailiwick.dev/content")]
    content: &'a str,
    #[serde(rename = "org.opencontainers.image.ref.name")]
    _ref_name: &'a str,
}

/// The entry of a descriptor that has nothing unusual about it: `listed` decides about the others.
fn as_written(raw: &RawValue) -> Option<Listed<'_>> {
    // A list would be read as the members in order.
    let written: Written<'_> = serde_json::from_str(raw.get()).ok().filter(|_| !raw.get().contains('['))?;
    let entry = Entry {
        id: written.annotations.id.parse().ok()?,
        version: written.annotations.version.parse().ok()?,
        kind: written.annotations.kind.parse().ok()?,
        digest: written.annotations.digest.parse().ok()?,
        manifest: written.digest.parse().ok()?,
        content: written.annotations.content.parse().ok()?,
    };
    let is_usual = written.media_type == MANIFEST_TYPE && written.artifact_type == entry.kind.media_type();
    is_usual.then(|| Listed { entry, size: written.size, text: Cow::Borrowed(raw.get()) })
}

/// The entry of any descriptor that claims to be ours, or what is wrong with it.
fn listed<'a>(value: &Value) -> Result<Listed<'a>, String> {
    let descriptor = Descriptor::read(value)?;
    if descriptor.media_type != MANIFEST_TYPE {
        return Err(format!("`mediaType` is `{}`, not `{MANIFEST_TYPE}`", descriptor.media_type));
    }
    let noted = value.get("annotations").ok_or("it has no `annotations`")?;
    let entry = Entry {
        id: text(noted, ID)?.parse().map_err(|error| format!("`{ID}`: {error}"))?,
        version: {
            let version = text(noted, VERSION)?;
            version.parse::<Version>().map_err(|error| format!("`{VERSION}`: {error}"))?
        },
        kind: text(noted, KIND)?.parse().map_err(|error| format!("`{KIND}`: {error}"))?,
        digest: text(noted, DIGEST)?.parse().map_err(|error| format!("`{DIGEST}`: {error}"))?,
        manifest: descriptor.digest,
        content: text(noted, CONTENT)?.parse().map_err(|error| format!("`{CONTENT}`: {error}"))?,
    };
    due(value, "artifactType", entry.kind.media_type())?;
    if without_tag(value.clone()) != without_tag(self::descriptor(&entry, descriptor.size)) {
        return Err("it has members that no writer of this store writes".to_owned());
    }
    let text = canonical_text(value).map_err(|error| error.to_string())?;
    Ok(Listed { entry, size: descriptor.size, text: Cow::Owned(text) })
}

fn value_of(raw: &RawValue) -> Result<Value, String> {
    serde_json::from_str(raw.get()).map_err(|error| not_json(&error))
}

/// The canonical form of a descriptor that another program spelt its own way.
fn canonical_again(raw: &str) -> Result<String, CanonicalError> {
    let value: Value = serde_json::from_str(raw)
        .map_err(|error| CanonicalError::NotJson { line: error.line(), column: error.column() })?;
    canonical_text(&value)
}

fn canonical_text(value: &Value) -> Result<String, CanonicalError> {
    // INVARIANT: canonical bytes are UTF-8.
    to_canonical(value).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}
