//! The source map: every text that was read, held once, and spans into it.
//!
//! A span is a byte range in one file, so it is small, orders by position and never goes stale. Lines and
//! columns are worked out when somebody asks. A file that could not be read is in the map as well, with an
//! empty text, so that a fault can still point at it.

use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(u32);

/// A byte range of one file; `start <= end`, both on character borders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file the range is in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The empty range at the beginning of `file`: for a fault of the file as a whole.
    pub fn of_file(file: FileId) -> Self {
        Self { file, start: 0, end: 0 }
    }

    /// From the start of `self` to the end of `last`, which is in the same file.
    #[must_use]
    pub fn to(self, last: Self) -> Self {
        Self { end: last.end.max(self.end), ..self }
    }
}

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value` as written at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }

    /// The same place, with the value borrowed.
    pub fn as_ref(&self) -> Spanned<&T> {
        Spanned { value: &self.value, span: self.span }
    }
}

/// One text and what to call it.
#[derive(Clone, Debug)]
pub struct SourceFile {
    path: String,
    text: Arc<str>,
    line_starts: Vec<u32>,
}

/// A place as people write it; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    /// The line.
    pub line: usize,
    /// The column, in Unicode scalar values.
    pub column: usize,
}

impl SourceFile {
    /// What a message calls the file, with `/` between its parts.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The whole text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The place of byte `offset`; past the end, the place of the end.
    pub fn line_column(&self, offset: u32) -> LineColumn {
        let line = self.line_starts.partition_point(|start| *start <= offset).max(1);
        let start = self.line_starts.get(line - 1).copied().unwrap_or(0) as usize;
        let until = (offset as usize).min(self.text.len());
        let column = self.text.get(start..until).map_or(0, |text| text.chars().count()) + 1;
        LineColumn { line, column }
    }
}

/// All texts of one run.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl SourceMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text under `path`. Texts over 4 GiB do not get here: readers refuse files far smaller.
    pub fn add(&mut self, path: impl Into<String>, text: impl Into<Arc<str>>) -> FileId {
        let text = text.into();
        let line_starts =
            std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| offset(at + 1))).collect();
        self.files.push(SourceFile { path: path.into(), text, line_starts });
        FileId(offset(self.files.len() - 1))
    }

    /// The file of `id`. An id of another map gives `None`.
    pub fn get(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// The path of `id`, or `?` for an id of another map.
    pub fn path(&self, id: FileId) -> &str {
        self.get(id).map_or("?", SourceFile::path)
    }

    /// The text under `span`.
    pub fn snippet(&self, span: Span) -> &str {
        self.get(span.file)
            .and_then(|file| file.text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// `path:line` of the start of `span`.
    pub fn place(&self, span: Span) -> String {
        match self.get(span.file) {
            Some(file) => format!("{}:{}", file.path, file.line_column(span.start).line),
            None => "?".to_owned(),
        }
    }
}

/// A byte position as stored in a [`Span`]; saturates, which no text that is read reaches.
pub(crate) fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_from_one() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.yaml", "é: 1\nb: 2\n");
        let file = sources.get(id).expect("just added");
        assert_eq!(file.line_column(0), LineColumn { line: 1, column: 1 });
        assert_eq!(file.line_column(2), LineColumn { line: 1, column: 2 });
        assert_eq!(file.line_column(6), LineColumn { line: 2, column: 1 });
        assert_eq!(file.line_column(999), LineColumn { line: 3, column: 1 });
    }
}
