//! YAML 1.2, strict profile, into the spanned tree. The only module that names the YAML parser.
//!
//! Refused: duplicate keys, anchors and aliases, tags, merge keys, keys that are no strings, numbers that JSON
//! does not hold, more than [`MAX_DEPTH`] levels, directives but `%YAML 1.2`. Plain scalars follow the core
//! schema (YAML 1.2.2, 10.3.2), except that what looks like something else to a YAML 1.1 reader, or to a reader
//! of C-like numbers, is an ambiguous string (see [`plain`]).
//!
//! A stream is cut at its document markers first, which YAML forbids inside a document (9.1.2), so a syntax
//! fault ends one document and cannot make the parser look through the others again and again.

mod plain;
mod syntax;

use std::collections::BTreeSet;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use self::plain::Plain;
use crate::diagnostics::{Diagnostic, code};
use crate::node::{Node, NodeValue, Text};
use crate::reading::{Faults, Inexact, MAX_DEPTH, excerpt, number};
use crate::source::{FileId, Span, Spanned};

/// The documents of the stream `text`, without those that are empty.
///
/// Faults go to `diagnostics` and reading goes on: a document with a syntax fault or too many levels is left
/// out, the others are there beside their faults. Of keys that are there twice the first is kept, of a number
/// too large the nearest; an alias is null, and an entry with a merge key or a list or map as its key is left
/// out.
pub fn read_yaml(file: FileId, text: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Node> {
    let mut faults = Faults::new(file, diagnostics);
    let mut documents = Vec::new();
    for range in cut(text, &mut faults) {
        let mut reader = Reader {
            text: text.get(range.clone()).unwrap_or(""),
            base: range.start,
            offsets: None,
            open: Vec::new(),
            root: None,
            aliases: BTreeSet::new(),
            faults: &mut faults,
        };
        if !reader.text.is_ascii() {
            reader.offsets = Some(reader.text.char_indices().map(|(at, _)| at).collect());
        }
        reader.read(&mut documents);
    }
    faults.finish();
    documents
}

/// The byte ranges of the documents of a stream.
fn cut(text: &str, faults: &mut Faults<'_>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut at, mut inside) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if is_marker(line, "---") {
            if inside {
                ranges.push(start..at);
            }
            (start, inside) = (at, true);
        } else if inside && is_marker(line, "...") {
            ranges.push(start..end);
            (start, inside) = (end, false);
        } else if !inside && line.starts_with('%') {
            directive(line, faults, at);
            start = end;
        } else if !inside {
            inside = !is_blank_or_comment(line) && !is_marker(line, "...");
        }
        at = end;
    }
    if inside {
        ranges.push(start..text.len());
    }
    ranges
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']))
}

/// A line of which the parser makes nothing; with a carriage return inside, it may.
fn is_blank_or_comment(line: &str) -> bool {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let line = line.strip_suffix('\r').unwrap_or(line).trim_start_matches([' ', '\t']);
    (line.is_empty() || line.starts_with('#')) && !line.contains('\r')
}

fn directive(line: &str, faults: &mut Faults<'_>, at: usize) {
    let line = line.trim_end();
    let mut words = line.split_whitespace();
    let name = words.next();
    if name == Some("%YAML")
        && words.next() == Some("1.2")
        && words.next().is_none_or(|word| word.starts_with('#'))
    {
        return;
    }
    let span = faults.span(at, at + line.len());
    let (code, message, help) = if name == Some("%TAG") {
        (&code::TAG, "tags are not allowed, nor directives for them".to_owned(), "remove the line")
    } else {
        (
            &code::SYNTAX,
            format!("directive `{}` is not understood", excerpt(line)),
            "remove the line: documents are read as YAML 1.2",
        )
    };
    faults.one(code, message, span, help);
}

/// A list or map that is not closed yet. Positions are bytes of the document.
struct Open {
    start: usize,
    /// The end of what is inside so far.
    end: usize,
    content: Content,
}

enum Content {
    Sequence(Vec<Node>),
    Mapping(Vec<(Spanned<String>, Node)>, Key),
}

/// What a map has of its next entry.
enum Key {
    /// Nothing: a key is due.
    Due,
    /// The key.
    Read(Spanned<String>),
    /// A key that is refused, and its value with it.
    Dropped,
}

/// The document is at an end; the fault is said.
struct Ended;

struct Reader<'t, 'f, 'd> {
    /// The document.
    text: &'t str,
    /// Where it begins in the file.
    base: usize,
    /// The byte of each character, unless the two are the same. The parser counts characters.
    offsets: Option<Vec<usize>>,
    open: Vec<Open>,
    root: Option<Node>,
    /// Aliases that were reported: each is once, however often it is used.
    aliases: BTreeSet<&'t str>,
    faults: &'f mut Faults<'d>,
}

impl<'t> Reader<'t, '_, '_> {
    fn read(&mut self, documents: &mut Vec<Node>) {
        for event in Parser::new_from_str(self.text) {
            let ended = match event {
                Ok((Event::DocumentEnd, _)) => {
                    documents.extend(self.root.take());
                    Ok(())
                }
                Ok((event, span)) => {
                    self.event(&event, self.byte(span.start.index()), self.byte(span.end.index()))
                }
                Err(error) => {
                    self.syntax(&error);
                    Err(Ended)
                }
            };
            if ended.is_err() {
                break;
            }
        }
        // What is still open belongs to a document that is left out; its keys are looked at all the same.
        for open in std::mem::take(&mut self.open) {
            if let Content::Mapping(mut entries, _) = open.content {
                self.faults.settle_keys(&mut entries);
            }
        }
    }

    fn event(&mut self, event: &Event<'_>, start: usize, end: usize) -> Result<(), Ended> {
        match event {
            Event::Scalar(value, style, anchor, tag) => {
                let properties = self.properties(start, *anchor > 0 || tag.is_some());
                self.scalar(value, *style, properties, end);
                Ok(())
            }
            Event::Alias(_) => {
                self.alias(start, end);
                Ok(())
            }
            Event::SequenceStart(anchor, tag) => {
                let properties = self.properties(start, *anchor > 0 || tag.is_some());
                self.begin(self.sequence_start(properties.content), Content::Sequence(Vec::new()))
            }
            Event::MappingStart(anchor, tag) => {
                let properties = self.properties(start, *anchor > 0 || tag.is_some());
                self.begin(properties.content, Content::Mapping(Vec::new(), Key::Due))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.end(start, end);
                Ok(())
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    /// The byte at which character `index` begins.
    fn byte(&self, index: usize) -> usize {
        let at = match &self.offsets {
            None => index,
            Some(offsets) => offsets.get(index).copied().unwrap_or(self.text.len()),
        };
        at.min(self.text.len())
    }

    fn span(&self, start: usize, end: usize) -> Span {
        self.faults.span(self.base + start, self.base + end)
    }

    fn rest(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or("")
    }

    fn begin(&mut self, start: usize, content: Content) -> Result<(), Ended> {
        let bracket = self.rest(start).chars().next().map_or(0, char::len_utf8);
        let span = self.span(start, start + bracket);
        if self.open.len() == MAX_DEPTH {
            self.faults.too_deep(span);
            return Err(Ended);
        }
        if self.key_is_due() {
            let what = match &content {
                Content::Sequence(_) => "a list",
                Content::Mapping(..) => "a map",
            };
            self.faults.one(
                &code::NON_STRING_KEY,
                format!("{what} is no key"),
                span,
                "write a string as the key, or quote it",
            );
        }
        self.open.push(Open { start, end: start, content });
        Ok(())
    }

    fn end(&mut self, start: usize, end: usize) {
        let Some(open) = self.open.pop() else { return };
        // A bracket has a place of its own; a block ends where the next token begins, which says nothing.
        let bracket = end > start && start >= open.end && self.rest(start).starts_with([']', '}']);
        let until = if bracket { start + 1 } else { open.end };
        let value = match open.content {
            Content::Sequence(items) => NodeValue::Sequence(items),
            Content::Mapping(mut entries, _) => {
                self.faults.settle_keys(&mut entries);
                NodeValue::Mapping(entries)
            }
        };
        self.add(open.start, until, value);
    }

    /// Puts a value where it belongs; a list or map as a key is dropped, which was said when it began.
    fn add(&mut self, start: usize, end: usize, value: NodeValue) {
        let node = Node { span: self.span(start, end), value };
        let Some(open) = self.grow(start, end) else {
            self.root = Some(node);
            return;
        };
        match &mut open.content {
            Content::Sequence(items) => items.push(node),
            Content::Mapping(entries, key) => match std::mem::replace(key, Key::Due) {
                Key::Due => *key = Key::Dropped,
                Key::Read(name) => entries.push((name, node)),
                Key::Dropped => {}
            },
        }
    }

    /// The list or map that is open, made to reach over `start..end`.
    fn grow(&mut self, start: usize, end: usize) -> Option<&mut Open> {
        let open = self.open.last_mut()?;
        open.start = open.start.min(start);
        open.end = open.end.max(end);
        Some(open)
    }

    fn key_is_due(&self) -> bool {
        matches!(self.open.last(), Some(Open { content: Content::Mapping(_, Key::Due), .. }))
    }

    fn alias(&mut self, start: usize, end: usize) {
        let span = self.span(start, end);
        self.alias_fault(span, start, end);
        if self.key_is_due() {
            self.set_key(Key::Dropped, start, end);
        } else {
            self.add(start, end, NodeValue::Null);
        }
    }

    fn alias_fault(&mut self, span: Span, start: usize, end: usize) {
        let name = self.text.get(start..end).unwrap_or("");
        if !self.aliases.insert(name) {
            return;
        }
        let shown = excerpt(name);
        self.faults.one(
            &code::ANCHOR,
            format!("alias `{shown}`: aliases are not allowed"),
            span,
            "write the value out where it is used, or quote it if it is text",
        );
    }

    fn set_key(&mut self, key: Key, start: usize, end: usize) {
        if let Some(Open { content: Content::Mapping(_, due), .. }) = self.grow(start, end) {
            *due = key;
        }
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, properties: Properties, end: usize) {
        let start = properties.content;
        let (start, end) = match style {
            ScalarStyle::Plain if value.is_empty() => {
                if self.open.is_empty() && !properties.any {
                    return;
                }
                let at = if properties.any { properties.end } else { self.empty_place(start) };
                (at, at)
            }
            ScalarStyle::Plain => (start, end.max(start)),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => (start, self.quoted_end(start)),
            ScalarStyle::Literal | ScalarStyle::Folded => (start, self.block_end(start, end)),
        };
        let plain = if style == ScalarStyle::Plain {
            plain::resolve(value)
        } else {
            Plain::Text { ambiguous: false }
        };
        if self.key_is_due() {
            self.key(value, style, plain, start, end);
            return;
        }
        let value = match plain {
            Plain::Null => NodeValue::Null,
            Plain::Bool(value) => NodeValue::Bool(value),
            Plain::Text { ambiguous } => NodeValue::String(Text { text: value.to_owned(), ambiguous }),
            Plain::Number => NodeValue::Number(number(value).unwrap_or_else(|Inexact(near)| {
                let span = self.span(start, end);
                self.faults.number(value, span);
                near
            })),
            Plain::NotFinite => {
                let span = self.span(start, end);
                self.faults.number(value, span);
                NodeValue::Number(0.into())
            }
        };
        self.add(start, end, value);
    }

    fn key(&mut self, value: &str, style: ScalarStyle, plain: Plain, start: usize, end: usize) {
        let span = self.span(start, end);
        let what = match plain {
            Plain::Null => "nothing",
            Plain::Bool(_) => "a boolean",
            Plain::Number | Plain::NotFinite => "a number",
            Plain::Text { .. } if style == ScalarStyle::Plain && value == "<<" => {
                self.faults.one(
                    &code::MERGE_KEY,
                    "merge keys are not allowed".to_owned(),
                    span,
                    "write the entries out, or quote `\"<<\"` if it is a name",
                );
                self.set_key(Key::Dropped, start, end);
                return;
            }
            Plain::Text { .. } => {
                self.set_key(Key::Read(Spanned::new(value.to_owned(), span)), start, end);
                return;
            }
        };
        self.faults.push(|| {
            let message = if value.is_empty() {
                "an entry has no key".to_owned()
            } else {
                format!("key `{}` is {what}, not a string", excerpt(value))
            };
            let help = if value.is_empty() {
                "write a key before `:`".to_owned()
            } else {
                format!("quote it: `\"{}\"`", excerpt(value))
            };
            Diagnostic::new(&code::NON_STRING_KEY, message).label(span, "").help(help)
        });
        self.set_key(Key::Read(Spanned::new(value.to_owned(), span)), start, end);
    }

    /// Reports the anchor and the tag that begin at `start`, if there are some.
    fn properties(&mut self, start: usize, any: bool) -> Properties {
        let mut found = Properties { any, content: start, end: start };
        if !any {
            return found;
        }
        loop {
            let at = found.content;
            let rest = self.rest(at);
            let length = if rest.starts_with("!<") {
                rest.find('>').map_or(rest.len(), |at| at + 1)
            } else if rest.starts_with(['&', '!']) {
                rest.find([' ', '\t', '\r', '\n', ',', '[', ']', '{', '}']).unwrap_or(rest.len())
            } else {
                return found;
            };
            let span = self.span(at, at + length);
            let shown = excerpt(rest.get(..length).unwrap_or(""));
            if rest.starts_with('&') {
                self.faults.one(
                    &code::ANCHOR,
                    format!("anchor `{shown}`: anchors are not allowed"),
                    span,
                    "remove it and write the value out where it is used, or quote the value if it is text",
                );
            } else {
                self.faults.one(
                    &code::TAG,
                    format!("tag `{shown}`: tags are not allowed"),
                    span,
                    "remove it; quote a value that has to be a string",
                );
            }
            found.end = at + length;
            found.content = self.skip_space(found.end);
        }
    }

    /// The next byte that is neither white space nor part of a comment.
    fn skip_space(&self, mut at: usize) -> usize {
        loop {
            let rest = self.rest(at);
            let content = rest.trim_start_matches([' ', '\t', '\r', '\n']);
            at += rest.len() - content.len();
            if !content.starts_with('#') {
                return at;
            }
            at += content.find(['\r', '\n']).unwrap_or(content.len());
        }
    }

    /// The `-` of the first item, where a list that is the value of a key begins after it by the parser's count.
    fn sequence_start(&self, start: usize) -> usize {
        let after = match self.open.last() {
            Some(Open { content: Content::Mapping(..), end, .. }) if !self.rest(start).starts_with('[') => {
                *end
            }
            _ => return start,
        };
        let before = self.text.get(..start).unwrap_or("");
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let item = line + self.rest(line).bytes().take_while(|b| *b == b' ').count();
        if (after..start).contains(&item) && self.rest(item).starts_with('-') { item } else { start }
    }

    /// The place of a value that is not written: after the `:` or `-` that it would follow.
    fn empty_place(&self, start: usize) -> usize {
        let Some(open) = self.open.last() else { return start };
        let next = self.skip_space(open.end);
        let marker = match &open.content {
            Content::Sequence(_) => '-',
            Content::Mapping(_, Key::Read(_) | Key::Dropped) => ':',
            Content::Mapping(_, Key::Due) => {
                let next = if self.rest(next).starts_with(',') { self.skip_space(next + 1) } else { next };
                return if self.rest(next).starts_with(['?', ':']) { next } else { open.end };
            }
        };
        if self.rest(next).starts_with(marker) { next + 1 } else { open.end }
    }

    /// The byte after the closing quote of the string that begins at `start`.
    fn quoted_end(&self, start: usize) -> usize {
        let rest = self.rest(start);
        let bytes = rest.as_bytes();
        let quote = bytes.first().copied().unwrap_or(b'"');
        let mut at = 1;
        while let Some(byte) = bytes.get(at) {
            if *byte == b'\\' && quote == b'"' {
                at += 2;
            } else if *byte != quote {
                at += 1;
            } else if quote == b'\'' && bytes.get(at + 1) == Some(&quote) {
                at += 2;
            } else {
                return start + at + 1;
            }
        }
        self.text.len()
    }

    /// The end of the last line of a block scalar, of which `start..end` has blank lines and indentation after.
    fn block_end(&self, start: usize, end: usize) -> usize {
        let block = self.text.get(start..end).unwrap_or("");
        let content = block.trim_end_matches([' ', '\t', '\r', '\n']).len();
        let after = block.get(content..).unwrap_or("");
        if content == 0 {
            return start;
        }
        start + content + after.find(['\r', '\n']).unwrap_or(after.len())
    }

    fn syntax(&mut self, error: &ScanError) {
        let at = self.byte(error.marker().index());
        let info = error.info();
        if info.contains("unknown anchor") {
            let end = self.rest(at).find([' ', '\t', '\r', '\n', ',', '[', ']', '{', '}']);
            let end = end.map_or(self.text.len(), |length| at + length);
            self.alias_fault(self.span(at, end), at, end);
        } else if info.contains("recursion limit") {
            let at = self.first_too_deep(at);
            self.faults.too_deep(self.character(at));
        } else {
            let (message, help) = syntax::explain(info);
            self.faults.one(&code::SYNTAX, message, self.character(at), help);
        }
    }

    /// Where the first list or map beyond [`MAX_DEPTH`] begins, in a document for which the parser gives up at `end`.
    ///
    /// On one line it looks ahead for a `:` and meets a limit of its own before the brackets below that are counted
    /// here. Without what comes after `end` they are.
    fn first_too_deep(&self, end: usize) -> usize {
        let mut depth = 0_usize;
        let events = Parser::new_from_str(self.text.get(..end).unwrap_or("")).map_while(Result::ok);
        for (event, span) in events {
            match event {
                Event::SequenceStart(..) | Event::MappingStart(..) if depth == MAX_DEPTH => {
                    return self.byte(span.start.index());
                }
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth = depth.saturating_sub(1),
                Event::Nothing
                | Event::StreamStart
                | Event::StreamEnd
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Alias(_)
                | Event::Scalar(..) => {}
            }
        }
        end
    }

    /// The character at `at`; nothing at the end of a line.
    fn character(&self, at: usize) -> Span {
        let here = self.rest(at).chars().next().filter(|c| !matches!(c, '\n' | '\r'));
        self.span(at, at + here.map_or(0, char::len_utf8))
    }
}

/// The anchor and tag before a value.
#[derive(Clone, Copy)]
struct Properties {
    any: bool,
    /// Where the value begins.
    content: usize,
    /// Where the last property ends.
    end: usize,
}
