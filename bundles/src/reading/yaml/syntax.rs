//! The parser's faults in the words of this crate.

/// What is wrong, and what to do about it, where the parser says `info`.
pub(super) fn explain(info: &str) -> (String, &'static str) {
    match FAULTS.iter().find(|(part, _, _)| info.contains(part)) {
        Some((_, message, help)) => ((*message).to_owned(), help),
        None => (
            format!("not YAML: {info}"),
            "look at the indentation here, and quote values with special characters",
        ),
    }
}

/// Part of what the parser says, message, help; the first one that fits counts.
const FAULTS: &[(&str, &str, &str)] = &[
    (
        "unprintable",
        "a character that YAML does not allow",
        "remove it, or write it as an escape in double quotes",
    ),
    ("tab", "a tab where only spaces may indent", "indent with spaces"),
    ("byte order mark", "a byte order mark inside the text", "remove it"),
    ("handle wasn't declared", "a tag that is not declared", "remove the tag: tags are not allowed"),
    (" tag", "a tag that is not written as one", "quote the value, if it is text; tags are not allowed"),
    ("anchor", "an anchor or alias that is not written as one", "quote the value, if it is text"),
    (
        "unknown escape",
        "an unknown escape in a double-quoted string",
        "write `\\\\` for a backslash, or use single quotes",
    ),
    (
        "hexadecimal",
        "an incomplete escape in a double-quoted string",
        "write two, four or eight hexadecimal digits",
    ),
    ("Unicode character escape", "an escape for what is no character", "write the character itself"),
    ("unexpected end of stream", "the string that begins here does not end", "close the quote"),
    ("unexpected document indicator", "the string that begins here does not end", "close the quote"),
    ("indentation in quoted", "a line of this string is not indented", "indent it further than the key"),
    ("after double-quoted", "text after the closing quote", "quote all of the value, or end the line here"),
    (
        "block scalar",
        "a block of text that is not indented as one",
        "begin it on the next line, indented alike",
    ),
    (
        "mapping values are not allowed",
        "no key can stand before this `:`",
        "quote a value that holds `: `, or indent the line like the one above",
    ),
    ("mapping keys are not allowed", "no key can stand here", "put it on a line of its own"),
    ("unexpected character", "an unquoted value cannot begin like this", "quote the value"),
    ("plain scalar cannot start", "an unquoted value cannot begin like this", "quote the value"),
    ("misplaced bracket", "a bracket that closes nothing", "open it first, or quote the value"),
    ("only valid inside a block", "a list item inside brackets", "separate items with `,` inside brackets"),
    (
        "flow mapping",
        "a map in braces that is not closed here",
        "separate entries with `,` and close with `}`",
    ),
    (
        "flow sequence",
        "a list in brackets that is not closed here",
        "separate items with `,` and close with `]`",
    ),
    ("flow construct", "a line inside brackets that is not indented", "indent it further than the key"),
    ("block sequence entries", "no list item can stand here", "begin the list on a line of its own"),
    (
        "expected '-'",
        "a line among list items that is none",
        "begin it with `- `, or indent it like the map it is of",
    ),
    (
        "expected key",
        "a line among the entries of a map that is none",
        "indent entries of a map alike, `key: value` each",
    ),
    (
        "':'",
        "a `:` is missing or out of place here",
        "write `key: value`, or close the bracket or quote that is open before it",
    ),
    ("simple key expected", "a key without `:`", "write `key: value`"),
    ("indent", "a line that is indented unlike the ones around it", "indent entries of the same level alike"),
    (
        "comment intercepting",
        "a comment inside an unquoted value of several lines",
        "quote the value, or move the comment",
    ),
    ("node content", "a value is due here", "write one, or `null`"),
    (
        "document start",
        "text after the end of the document",
        "begin another document with `---`, or remove it",
    ),
    ("document end marker", "text after the end of the document", "put it on a line of its own"),
];
