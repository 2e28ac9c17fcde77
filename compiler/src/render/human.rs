//! Diagnostics on a terminal. The only module that names the renderer.
//!
//! The renderer draws one file at a time, so a diagnostic with places in several files is drawn file by file.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

use bailiwick_bundles::{Diagnostic, FileId, Label, Severity, SourceMap, code, credential_shape, is_obeyed};
use miette::{
    GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, NamedSource, SourceCode, SourceSpan,
    SpanContents,
};

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Whether to use colour, which never carries meaning of its own.
    pub color: bool,
}

/// The widest line that is drawn around text.
const WIDTH: usize = 100;

/// Draws one diagnostic, with a blank line at its end.
pub(crate) fn render(diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> String {
    let mut text = String::new();
    // INVARIANT: writing to a `String` cannot fail.
    let _ = write(&mut text, diagnostic, sources, style);
    text
}

fn write(out: &mut String, diagnostic: &Diagnostic, sources: &SourceMap, style: Style) -> fmt::Result {
    let severity = diagnostic.severity;
    let (on, bold, off) = match (style.color, severity) {
        (false, _) => ("", "", ""),
        (true, Severity::Error) => ("\u{1b}[31;1m", "\u{1b}[1m", "\u{1b}[0m"),
        (true, Severity::Warning) => ("\u{1b}[33;1m", "\u{1b}[1m", "\u{1b}[0m"),
        (true, Severity::Note) => ("\u{1b}[36;1m", "\u{1b}[1m", "\u{1b}[0m"),
    };
    writeln!(
        out,
        "{on}{}[{}]{off}{bold}: {}{off}",
        severity.as_str(),
        diagnostic.code.id,
        diagnostic.message
    )?;
    let mut files: Vec<FileId> = Vec::new();
    for label in &diagnostic.labels {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    for file in files {
        let labels: Vec<&Label> = diagnostic.labels.iter().filter(|label| label.span.file == file).collect();
        write_snippet(out, file, &labels, sources, style, conceals(diagnostic))?;
    }
    if let Some(example) = &diagnostic.example {
        writeln!(out, "  for example  {example}")?;
    }
    for note in &diagnostic.notes {
        writeln!(out, "  note: {note}")?;
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "  help: {help}")?;
    }
    writeln!(out)
}

/// A line that holds a secret is not shown: output ends up in logs.
fn conceals(diagnostic: &Diagnostic) -> bool {
    *diagnostic.code == code::PLAINTEXT_SECRET || *diagnostic.code == code::LOOKS_LIKE_CREDENTIAL
}

/// The line around a place.
fn line_of(text: &str, at: usize) -> Option<&str> {
    let start = text.get(..at)?.rfind('\n').map_or(0, |at| at + 1);
    text.get(start..)?.lines().next()
}

fn is_secret(line: &str) -> bool {
    credential_shape(line).is_some()
}

fn write_snippet(
    out: &mut String,
    file: FileId,
    labels: &[&Label],
    sources: &SourceMap,
    style: Style,
    conceal: bool,
) -> fmt::Result {
    let Some(source) = sources.get(file) else { return Ok(()) };
    let shows_secret =
        |label: &&&Label| line_of(source.text(), label.span.start as usize).is_some_and(is_secret);
    let conceal = conceal || labels.iter().any(|label| shows_secret(&label));
    if source.text().is_empty() || conceal {
        let at = labels.first().filter(|_| conceal).map(|label| source.line_column(label.span.start));
        let place = at.map_or_else(String::new, |at| format!(":{}:{}", at.line, at.column));
        writeln!(out, "   ╭─[{}{place}]", source.path())?;
        for label in labels.iter().filter(|label| !label.text.is_empty()) {
            writeln!(out, "   · {}", label.text)?;
        }
        return writeln!(out, "   ╰────");
    }
    let snippet = Snippet {
        source: NamedSource::new(source.path(), Lines(visible(source.text()))),
        labels: labels
            .iter()
            .enumerate()
            .map(|(at, label)| {
                let text = (!label.text.is_empty()).then(|| label.text.clone());
                let range = first_line(source.text(), label.span.start as usize..label.span.end as usize);
                if at == 0 {
                    LabeledSpan::new_primary_with_span(text, range)
                } else {
                    LabeledSpan::new_with_span(text, range)
                }
            })
            .collect(),
    };
    let theme = if style.color { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_context_lines(1);
    let mut drawn = String::new();
    handler.render_report(&mut drawn, &snippet)?;
    // The report begins with a heading of its own, which ours replaces.
    let body = drawn.lines().skip_while(|line| !line.contains("╭─["));
    for line in body.map(str::trim_end).filter(|line| !line.is_empty()) {
        writeln!(out, "{}", line.strip_prefix(' ').unwrap_or(line))?;
    }
    Ok(())
}

/// The part of `range` on its first line: a label on a long map would hide what it says. A place at the end of a line
/// is drawn at the last letter before it, since under nothing no label is drawn.
fn first_line(text: &str, range: Range<usize>) -> Range<usize> {
    let length = text.get(range.clone()).and_then(|text| text.find(['\r', '\n']));
    let range = range.start..length.map_or(range.end, |length| range.start + length);
    let at_end =
        text.get(range.start..).is_some_and(|rest| rest.is_empty() || rest.starts_with(['\r', '\n']));
    let before = text.get(..range.start).unwrap_or("").trim_end();
    match before.char_indices().next_back() {
        Some((at, last)) if range.is_empty() && at_end => at..at + last.len_utf8(),
        _ => range,
    }
}

/// The text with what a terminal would obey in place of showing it made visible, each letter by one of the same length.
fn visible(text: &Arc<str>) -> Arc<str> {
    if !text.contains(is_obeyed) {
        return Arc::clone(text);
    }
    let shown = |letter: char| match letter.len_utf8() {
        _ if !is_obeyed(letter) => letter,
        1 => '?',
        2 => '¿',
        _ => '\u{fffd}',
    };
    text.chars().map(shown).collect::<String>().into()
}

/// How much of a line is drawn before and after a label: more would bury it.
const MARGIN: usize = 120;

/// A text that is always shown in whole lines.
struct Lines(Arc<str>);

impl SourceCode for Lines {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        // Without context the renderer asks where exactly the label stands.
        if before == 0 {
            return self.0.read_span(span, before, after);
        }
        let text = &self.0;
        let end = (span.offset() + span.len()).min(text.len());
        let start = text.get(..span.offset()).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
        let end_of_line = text.get(end..).and_then(|text| text.find('\n')).map_or(text.len(), |at| end + at);
        let start = text.floor_char_boundary(start.max(span.offset().saturating_sub(MARGIN)));
        let end = text.ceil_char_boundary(end_of_line.min(end + MARGIN));
        text.read_span(&SourceSpan::new(start.into(), end.saturating_sub(start)), 0, 0)
    }
}

struct Snippet {
    source: NamedSource<Lines>,
    labels: Vec<LabeledSpan>,
}

impl fmt::Debug for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a snippet")
    }
}

impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(" ")
    }
}

impl std::error::Error for Snippet {}

impl miette::Diagnostic for Snippet {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
