//! `bundle.lock.json`: which version each reference was pinned to, and the digest of every document.
//!
//! One block per document, sorted, no whole-file digest and no addresses, so that two branches that pin different
//! things merge without a conflict. Pins are kept while they satisfy; only `lock --update` moves them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bailiwick_bundles::documents::phrony::Kind;
use bailiwick_bundles::{
    Constraint, Diagnostic, Digest, LogicalId, Node, NodeValue, Span, Version, code, read_json,
};
use serde::Serialize;

use crate::session::{ReadFile, Session};

/// The name of the lock in a bundle.
pub(crate) const LOCK_FILE: &str = "bundle.lock.json";

/// The format this compiler writes and reads.
const FORMAT: u64 = 1;

/// Where a lock stands on one document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Block {
    /// What it is.
    #[serde(serialize_with = "lower_case")]
    pub kind: Kind,
    /// `namespace.name`.
    pub id: LogicalId,
    /// The version.
    pub version: Version,
    /// `bundle` or `catalog/NAME`.
    pub from: String,
    /// The constraints that are pinned to it, sorted; `*` for a reference without one.
    pub constraints: Vec<String>,
    /// Digest of the document with the contents of its files.
    pub content_hash: Digest,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn lower_case<S: serde::Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&kind.as_str().to_lowercase())
}

/// A lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock {
    blocks: BTreeMap<(Kind, LogicalId, Version), Block>,
}

impl Lock {
    /// A lock of these blocks.
    pub fn new(blocks: impl IntoIterator<Item = Block>) -> Self {
        let key = |block: &Block| (block.kind, block.id.clone(), block.version.clone());
        Self { blocks: blocks.into_iter().map(|block| (key(&block), block)).collect() }
    }

    /// The version that a reference to `id` is pinned to in a catalog: the one that is locked for the same text, or
    /// else the highest locked one that satisfies the constraint.
    pub fn pinned(
        &self,
        kind: Kind,
        id: &LogicalId,
        text: &str,
        constraint: Option<&Constraint>,
    ) -> Option<Version> {
        let locked = || {
            self.blocks
                .values()
                .filter(|block| block.kind == kind && block.id == *id && block.from != "bundle")
        };
        let same = locked().find(|block| block.constraints.iter().any(|known| known == text));
        let fits = |block: &&Block| constraint.is_none_or(|constraint| constraint.matches(&block.version));
        let found =
            same.or_else(|| locked().filter(fits).max_by(|a, b| a.version.cmp_precedence(&b.version)));
        found.map(|block| block.version.clone())
    }

    /// How many documents it has.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// The block of one document.
    pub fn block(&self, kind: Kind, id: &LogicalId, version: &Version) -> Option<&Block> {
        self.blocks.get(&(kind, id.clone(), version.clone()))
    }

    /// The same lock without the pins of `ids`; without any where `ids` is empty.
    #[must_use]
    pub fn without(mut self, ids: &[LogicalId]) -> Self {
        self.blocks.retain(|_, block| block.from == "bundle" || !(ids.is_empty() || ids.contains(&block.id)));
        self
    }

    /// The text of the lock.
    pub fn to_text(&self) -> String {
        #[derive(Serialize)]
        struct File<'a> {
            format: u64,
            documents: Vec<&'a Block>,
        }
        let file = File { format: FORMAT, documents: self.blocks.values().collect() };
        // INVARIANT: strings and numbers always serialise.
        let mut text = serde_json::to_string_pretty(&file).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What changes from `self` to `new`, one line each: `+` added, `-` removed, `~` changed.
    pub fn changes(&self, new: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        let name =
            |block: &Block| format!("{} {} {}", block.kind.as_str().to_lowercase(), block.id, block.version);
        for (key, block) in &self.blocks {
            if !new.blocks.contains_key(key) {
                lines.push(format!("- {}", name(block)));
            }
        }
        for (key, block) in &new.blocks {
            let Some(old) = self.blocks.get(key) else {
                lines.push(format!("+ {}", name(block)));
                continue;
            };
            let mut line = format!("~ {}:", name(block));
            let bare = line.len();
            if old.content_hash != block.content_hash {
                let _ =
                    write!(line, " content {} → {}", old.content_hash.short(), block.content_hash.short());
            }
            if old.from != block.from {
                let _ = write!(line, " from {} → {}", old.from, block.from);
            }
            if old.constraints != block.constraints {
                let _ = write!(
                    line,
                    " constraints {} → {}",
                    old.constraints.join(" "),
                    block.constraints.join(" ")
                );
            }
            if line.len() > bare {
                lines.push(line);
            }
        }
        lines
    }
}

/// Reads a lock. `None` where it is not usable, which was said.
pub(crate) fn read(session: &mut Session, read: &ReadFile) -> Option<Lock> {
    let text = read.text.clone()?;
    if let Some(span) = conflict_marker(read, &text) {
        session.push(
            Diagnostic::new(&code::CONFLICT_MARKERS, "the lock has conflict markers of a merge")
                .label(span, "a conflict begins here")
                .help("take either side, then run `bailiwick lock`: it keeps what still satisfies and adds the rest"),
        );
        return None;
    }
    let before = session.diagnostics.len();
    let node = read_json(read.file, &text, &mut session.diagnostics);
    let Some(node) = node.filter(|_| session.diagnostics.len() == before) else {
        for diagnostic in session.diagnostics.iter_mut().skip(before) {
            diagnostic.code = &code::INVALID_LOCK;
            diagnostic.help =
                Some("restore the file from version control, or remove it and run `bailiwick lock`".into());
        }
        return None;
    };
    let mut reader = Reader { session, failed: false };
    let lock = reader.lock(&node);
    if reader.failed { None } else { lock }
}

fn conflict_marker(read: &ReadFile, text: &str) -> Option<Span> {
    let mut at = 0_usize;
    for line in text.split_inclusive('\n') {
        if ["<<<<<<< ", ">>>>>>> ", "||||||| "].iter().any(|marker| line.starts_with(marker))
            || line.trim_end() == "======="
        {
            let (start, end) = (u32::try_from(at).ok()?, u32::try_from(at + line.trim_end().len()).ok()?);
            return Some(Span { file: read.file, start, end });
        }
        at += line.len();
    }
    None
}

struct Reader<'s> {
    session: &'s mut Session,
    failed: bool,
}

impl Reader<'_> {
    fn fault(&mut self, diagnostic: Diagnostic) {
        self.failed = true;
        self.session.push(
            diagnostic.help("restore the file from version control, or remove it and run `bailiwick lock`"),
        );
    }

    fn invalid(&mut self, span: Span, message: impl Into<String>) {
        self.fault(Diagnostic::new(&code::INVALID_LOCK, message).label(span, "here"));
    }

    fn lock(&mut self, node: &Node) -> Option<Lock> {
        let Some(entries) = node.as_mapping() else {
            self.invalid(node.span, "a lock is a JSON object");
            return None;
        };
        match node.get("format").map(|node| (&node.value, node.span)) {
            Some((NodeValue::Number(number), _)) if number.as_u64() == Some(FORMAT) => {}
            Some((NodeValue::Number(number), span)) => {
                self.failed = true;
                self.session.push(
                    Diagnostic::new(&code::UNKNOWN_LOCK_FORMAT, format!("lock format {number} is not known"))
                        .label(span, format!("this compiler reads format {FORMAT}"))
                        .help("use the version of bailiwick that wrote it, or a newer one"),
                );
                return None;
            }
            Some((_, span)) => self.invalid(span, "`format` is a number"),
            None => self.invalid(node.span, "the lock has no `format`"),
        }
        for (key, _) in
            entries.iter().filter(|(key, _)| !["format", "documents"].contains(&key.value.as_str()))
        {
            self.invalid(key.span, format!("unknown field `{}` in the lock", key.value));
        }
        let Some(documents) = node.get("documents").and_then(Node::as_sequence) else {
            self.invalid(node.span, "the lock has no list of `documents`");
            return None;
        };
        let mut lock = Lock::default();
        for document in documents {
            let Some(block) = self.block(document) else { continue };
            let key = (block.kind, block.id.clone(), block.version.clone());
            if lock.blocks.insert(key, block).is_some() {
                self.invalid(document.span, "the document has two blocks");
            }
        }
        Some(lock)
    }

    fn block(&mut self, node: &Node) -> Option<Block> {
        const KNOWN: [&str; 6] = ["kind", "id", "version", "from", "constraints", "content_hash"];
        let Some(entries) = node.as_mapping() else {
            self.invalid(node.span, "a block is a JSON object");
            return None;
        };
        for (key, _) in entries.iter().filter(|(key, _)| !KNOWN.contains(&key.value.as_str())) {
            self.invalid(key.span, format!("unknown field `{}` in a block", key.value));
        }
        let kind = self.parse(node, "kind", |text| {
            Kind::WORDS.iter().find(|word| word.to_lowercase() == text).and_then(|word| Kind::from_word(word))
        });
        let id = self.parse(node, "id", |text| text.parse().ok());
        let version = self.parse(node, "version", |text| text.parse().ok());
        let from = self.parse(node, "from", |text| {
            (text == "bundle" || text.starts_with("catalog/")).then(|| text.to_owned())
        });
        let content_hash = if node.get("content_hash").is_none() {
            let name = node.get("id").and_then(Node::as_str).unwrap_or("a document").to_owned();
            self.fault(
                Diagnostic::new(
                    &code::MISSING_HASH,
                    format!("`{name}` is locked without its `content_hash`"),
                )
                .label(node.span, "no digest here"),
            );
            None
        } else {
            self.parse(node, "content_hash", |text| text.parse().ok())
        };
        let mut constraints = Vec::new();
        let listed = node.get("constraints").and_then(Node::as_sequence);
        if listed.is_none() {
            self.invalid(node.span, "a block has no list of `constraints`");
        }
        for constraint in listed.unwrap_or(&[]) {
            match constraint.as_str() {
                Some(text) => constraints.push(text.to_owned()),
                None => self.invalid(constraint.span, "a constraint is a string"),
            }
        }
        constraints.sort();
        constraints.dedup();
        Some(Block {
            kind: kind?,
            id: id?,
            version: version?,
            from: from?,
            constraints,
            content_hash: content_hash?,
        })
    }

    fn parse<T>(&mut self, node: &Node, key: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let Some(value) = node.get(key) else {
            self.invalid(node.span, format!("a block has no `{key}`"));
            return None;
        };
        let parsed = value.as_str().and_then(read);
        if parsed.is_none() {
            self.invalid(value.span, format!("`{key}` is not readable"));
        }
        parsed
    }
}
