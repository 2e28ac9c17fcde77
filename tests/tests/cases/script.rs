//! The lines of `cmd`.
//!
//! `bailiwick ARGS…` runs the program; `$DIGEST` stands for the digest that was printed last, `$SHORT` for its first
//! 12 digits. `# …` is a comment. A line that begins with `@` changes the copy of the input; what git cannot carry, or
//! what would be tedious to carry, is made so. Words are split at spaces; quotes hold them together, and within
//! double quotes `\n`, `\t`, `\"` and `\\` mean what they do elsewhere.
//!
//! | line | |
//! |---|---|
//! | `@write PATH TEXT`, `@append PATH TEXT` | a text |
//! | `@repeat PATH N TEXT` | appends a text N times |
//! | `@bytes PATH HEX` | appends bytes |
//! | `@replace PATH OLD NEW` | the first place where OLD is must be there |
//! | `@copy A B`, `@mkdir PATH`, `@rmdir PATH` | |
//! | `@remove GLOB`, `@flip GLOB OFFSET`, `@truncate GLOB N` | the largest file that GLOB matches, where `*` is a name |
//! | `@symlink TARGET PATH`, `@fifo PATH`, `@socket PATH` | on Unix; elsewhere the case is left out |
//! | `@case-sensitive` | left out where two names that differ by case are one |

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

/// A case's `cmd`.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) lines: Vec<Line>,
}

/// One line.
#[derive(Debug)]
pub(crate) enum Line {
    /// The program, with its arguments.
    Run {
        /// Its words, the program's name first.
        arguments: Vec<String>,
        /// As it is written.
        shown: String,
    },
    /// A change of the input.
    Setup(Directive),
}

/// A line that begins with `@`.
#[derive(Debug)]
pub(crate) struct Directive {
    name: String,
    arguments: Vec<String>,
}

/// What a command line can refer to.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    digest: String,
}

impl Variables {
    /// The arguments with the values in them.
    pub(crate) fn fill(&self, arguments: &[String]) -> Vec<String> {
        let short = self.digest.get(.."sha256:".len() + 12).unwrap_or_default();
        let fill = |text: &String| text.replace("$DIGEST", &self.digest).replace("$SHORT", short);
        arguments.iter().map(fill).collect()
    }

    /// Remembers the last digest in an output that is there in full.
    pub(crate) fn learn(&mut self, output: &str) {
        let is_full = |at: usize| {
            let hex = output.get(at + "sha256:".len()..at + "sha256:".len() + 64)?;
            hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| format!("sha256:{hex}"))
        };
        let found = output.match_indices("sha256:").filter_map(|(at, _)| is_full(at)).last();
        self.digest = found.unwrap_or_else(|| std::mem::take(&mut self.digest));
    }
}

impl Script {
    /// Reads it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let lines = lines.map(|line| {
            let mut words = words(line)?;
            if let Some(name) = line.strip_prefix('@').and(words.first()) {
                let name = name.trim_start_matches('@').to_owned();
                return Ok(Line::Setup(Directive { name, arguments: words.split_off(1) }));
            }
            if words.first().map(String::as_str) != Some("bailiwick") {
                return Err(format!("not a line of a case: {line}"));
            }
            Ok(Line::Run { arguments: words, shown: line.to_owned() })
        });
        Ok(Self { lines: lines.collect::<Result<_, String>>()? })
    }

    /// Whether this system has what the lines need.
    pub(crate) fn can_run(&self, scratch: &Utf8Path) -> bool {
        let directives = self.lines.iter().filter_map(|line| match line {
            Line::Setup(directive) => Some(directive.name.as_str()),
            Line::Run { .. } => None,
        });
        directives.into_iter().all(|name| match name {
            "symlink" | "fifo" | "socket" => cfg!(unix),
            "case-sensitive" => {
                let (lower, upper) = (scratch.join("probe"), scratch.join("PROBE"));
                let apart = fs::write(&lower, "").is_ok() && !upper.exists();
                fs::remove_file(&lower).is_ok() && apart
            }
            _ => true,
        })
    }
}

fn words(line: &str) -> Result<Vec<String>, String> {
    let (mut words, mut word, mut begun) = (Vec::new(), String::new(), false);
    let mut quote = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (Some('"'), '\\') => word.push(match letters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other @ ('"' | '\\')) => other,
                other => return Err(format!("`\\` before {other:?} in: {line}")),
            }),
            (None, '"' | '\'') => (quote, begun) = (Some(letter), true),
            (None, ' ') if begun => {
                words.push(std::mem::take(&mut word));
                begun = false;
            }
            (None, ' ') => {}
            (_, letter) => {
                word.push(letter);
                begun = true;
            }
        }
    }
    if quote.is_some() {
        return Err(format!("a quote is open in: {line}"));
    }
    if begun {
        words.push(word);
    }
    Ok(words)
}

impl Directive {
    /// Makes the change in `cwd`.
    pub(crate) fn apply(&self, cwd: &Utf8Path) -> Result<(), String> {
        let words: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let done = match (self.name.as_str(), words.as_slice()) {
            ("write", [path, text]) => write(&cwd.join(path), text.as_bytes(), false),
            ("append", [path, text]) => write(&cwd.join(path), text.as_bytes(), true),
            ("repeat", [path, times, text]) => {
                write(&cwd.join(path), text.repeat(number(times)?).as_bytes(), true)
            }
            ("bytes", [path, hex]) => write(&cwd.join(path), &bytes(hex)?, true),
            ("replace", [path, old, new]) => {
                let path = cwd.join(path);
                let text = fs::read_to_string(&path).map_err(|error| error.to_string())?;
                if !text.contains(old) {
                    return Err(format!("`{old}` is not in it"));
                }
                fs::write(path, text.replacen(old, new, 1))
            }
            ("copy", [from, to]) if cwd.join(from).is_dir() => {
                crate::tree::copy(cwd.join(from).as_std_path(), cwd.join(to).as_std_path())
            }
            ("copy", [from, to]) => fs::copy(cwd.join(from), cwd.join(to)).map(drop),
            ("mkdir", [path]) => fs::create_dir_all(cwd.join(path)),
            ("rmdir", [path]) => fs::remove_dir(cwd.join(path)),
            ("remove", [glob]) => fs::remove_file(largest(cwd, glob)?),
            ("flip", [glob, offset]) => {
                let path = largest(cwd, glob)?;
                let mut content = fs::read(&path).map_err(|error| error.to_string())?;
                *content.get_mut(number(offset)?).ok_or("the file is shorter")? ^= 1;
                fs::write(path, content)
            }
            ("truncate", [glob, length]) => {
                let path = largest(cwd, glob)?;
                let mut content = fs::read(&path).map_err(|error| error.to_string())?;
                content.truncate(number(length)?);
                fs::write(path, content)
            }
            ("case-sensitive", []) => Ok(()),
            (name, words) => return special(cwd, name, words),
        };
        done.map_err(|error| error.to_string())
    }
}

#[cfg(unix)]
fn special(cwd: &Utf8Path, name: &str, words: &[&str]) -> Result<(), String> {
    match (name, words) {
        ("symlink", [target, path]) => {
            std::os::unix::fs::symlink(target, cwd.join(path)).map_err(|error| error.to_string())
        }
        ("fifo", [path]) => {
            let status = std::process::Command::new("mkfifo").arg(cwd.join(path)).status();
            match status {
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(format!("mkfifo: {status}")),
                Err(error) => Err(format!("mkfifo: {error}")),
            }
        }
        ("socket", [path]) => std::os::unix::net::UnixListener::bind(cwd.join(path))
            .map(drop)
            .map_err(|error| error.to_string()),
        _ => Err(format!("no such line: @{name} with {} words", words.len())),
    }
}

#[cfg(not(unix))]
fn special(_: &Utf8Path, name: &str, words: &[&str]) -> Result<(), String> {
    Err(format!("no such line: @{name} with {} words", words.len()))
}

fn write(path: &Utf8Path, bytes: &[u8], append: bool) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut content = if append && path.exists() { fs::read(path)? } else { Vec::new() };
    content.extend_from_slice(bytes);
    fs::write(path, content)
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn bytes(hex: &str) -> Result<Vec<u8>, String> {
    let pairs = (0..hex.len()).step_by(2);
    let byte = |at| hex.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    pairs.map(byte).collect::<Option<_>>().ok_or_else(|| format!("`{hex}` is not hexadecimal"))
}

/// The largest file that a pattern matches, and of equal ones the first.
fn largest(cwd: &Utf8Path, glob: &str) -> Result<Utf8PathBuf, String> {
    let mut found = vec![cwd.to_owned()];
    for part in glob.split('/') {
        found = if part == "*" {
            let listed = found.iter().filter_map(|folder| folder.read_dir_utf8().ok()).flatten();
            listed.filter_map(|entry| Some(entry.ok()?.into_path())).collect()
        } else {
            found.into_iter().map(|folder| folder.join(part)).filter(|path| path.exists()).collect()
        };
    }
    found.retain(|path| path.is_file());
    found.sort();
    let size = |path: &Utf8PathBuf| path.metadata().map_or(0, |metadata| metadata.len());
    let most = found.iter().map(size).max().ok_or_else(|| format!("nothing matches `{glob}`"))?;
    found.into_iter().find(|path| size(path) == most).ok_or_else(|| format!("nothing matches `{glob}`"))
}
