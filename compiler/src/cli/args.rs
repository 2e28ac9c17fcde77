//! What can be written on the command line. Doc comments are the help.

use bailiwick_policy::Phase;
use camino::Utf8PathBuf;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

/// Compiles AI-agent bundles to immutable snapshots, and proves that nothing in them widens.
#[derive(Debug, Parser)]
#[command(name = "bailiwick", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Cli {
    /// How results are printed.
    #[arg(long, value_enum, default_value_t = Format::Human, global = true)]
    pub(super) format: Format,
    /// The store to use, instead of the one of `bailiwick.toml` or `.bailiwick/store`.
    #[arg(long, value_name = "DIR", global = true)]
    pub(super) store: Option<Utf8PathBuf>,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The command line as a description, for completions and manual pages.
pub fn command() -> clap::Command {
    Cli::command()
}

/// How results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Human,
    /// For programs.
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Find every fault in bundles, without writing anything.
    Check(CheckArgs),
    /// Pin every reference in `bundle.lock.json`.
    Lock(LockArgs),
    /// Compile a bundle, or one Tool or Policy file, and put the snapshot into the store.
    Publish(PublishArgs),
    /// Print a snapshot, or one member, tool, policy or binding of it.
    Show(ShowArgs),
    /// Print what a snapshot is made of, as a tree.
    Tree(SourceArgs),
    /// Say what happens to one call: whether it may be made, needs approvals, or is denied.
    Decide(DecideArgs),
    /// Say why a version was pinned: who asked, and what was passed over.
    Why(WhyArgs),
    /// Compare two JSON Schemas: is everything that INNER accepts accepted by OUTER?
    Narrow(NarrowArgs),
    /// Re-hash a store and name everything that is damaged.
    Verify(VerifyArgs),
    /// Write a new agent, or a bundle of agents, that compiles.
    Init(InitArgs),
    /// Print the page of a diagnostic code, or the list of codes.
    Explain(ExplainArgs),
    /// Print the JSON Schema of a kind of document, for editors.
    Schema(SchemaArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print the manual page, or write one for each command to a directory.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Bundles: directories with `bundle.yaml` or `agent.yaml`, or such files.
    #[arg(value_name = "BUNDLE", default_value = ".")]
    pub(super) bundles: Vec<Utf8PathBuf>,
    /// Refuse a lock that would change.
    #[arg(long)]
    pub(super) locked: bool,
}

#[derive(Debug, Args)]
pub(super) struct LockArgs {
    /// The bundle; the working directory by default.
    #[arg(value_name = "BUNDLE")]
    pub(super) bundle: Option<Utf8PathBuf>,
    /// Write nothing; refuse a lock that would change, and show how.
    #[arg(long, conflicts_with = "update")]
    pub(super) check: bool,
    /// Choose these pins anew (`namespace.name …`), or all of them.
    #[arg(long, value_name = "REF", num_args = 0.., value_delimiter = ',')]
    pub(super) update: Option<Vec<String>>,
}

#[derive(Debug, Args)]
pub(super) struct PublishArgs {
    /// The bundle, or one Tool or Policy file.
    #[arg(value_name = "BUNDLE", default_value = ".")]
    pub(super) bundle: Utf8PathBuf,
    /// Refuse a lock that would change.
    #[arg(long)]
    pub(super) locked: bool,
}

#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// A bundle's path, `namespace.name@version`, `namespace.name@sha256:…`, or `sha256:` and at least 12 digits.
    #[arg(value_name = "SOURCE", default_value = ".")]
    pub(super) source: String,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    pub(super) source: SourceArgs,
    /// One part: an agent, tool or policy by `namespace.name`, or a binding by its wire name (`agent/name`
    /// where several agents have it).
    #[arg(value_name = "PART")]
    pub(super) part: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "The exit code is 0 whatever is decided: read the first line, or `decision` of `--format json`."
)]
pub(super) struct DecideArgs {
    /// A bundle's path, `namespace.name@version`, `namespace.name@sha256:…`, or `sha256:` and at least 12 digits.
    #[arg(value_name = "SOURCE")]
    pub(super) source: String,
    /// The agent, which may be left out where there is one, and the name under which it calls the tool.
    #[arg(value_name = "[AGENT] TOOL", num_args = 1..=2, required = true)]
    pub(super) names: Vec<String>,
    /// The arguments: a file with a JSON object, `-` for standard input, or the object itself.
    #[arg(long, value_name = "FILE")]
    pub(super) args: String,
    /// When the call is decided: `call`, or how its dispatch went wrong, such as `dispatch:indeterminate`.
    #[arg(long, value_name = "PHASE", default_value = "call")]
    pub(super) phase: Phase,
    /// Name every policy that was considered, what decided it, and, of a bundle's files, where that is written. JSON
    /// always has it.
    #[arg(long)]
    pub(super) explain: bool,
}

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// What was pinned: `namespace.name`.
    #[arg(value_name = "REF")]
    pub(super) reference: String,
    /// The bundle.
    #[arg(value_name = "BUNDLE", default_value = ".")]
    pub(super) bundle: Utf8PathBuf,
}

/// What the exit code of `narrow` says.
const NARROW_EXITS: &str = "\
Exit code: 0 contained; 1 escapes, undecided or invalid; 2 usage; 3 a file that cannot be read, or a line \
of a batch of which not even the id can be.

A schema is written in the draft that its `$schema` names, in 2020-12 where it names none:
  http://json-schema.org/draft-04/schema#
  http://json-schema.org/draft-06/schema#
  http://json-schema.org/draft-07/schema#
  https://json-schema.org/draft/2019-09/schema
  https://json-schema.org/draft/2020-12/schema";

#[derive(Debug, Args)]
#[command(after_help = NARROW_EXITS)]
pub(super) struct NarrowArgs {
    /// The schema that must contain the other, in JSON or YAML.
    #[arg(value_name = "OUTER", required_unless_present = "batch")]
    pub(super) outer: Option<Utf8PathBuf>,
    /// The schema that is asked about.
    #[arg(value_name = "INNER", required_unless_present = "batch")]
    pub(super) inner: Option<Utf8PathBuf>,
    /// List the rule that closed each part of a proof; the other verdicts say all they can without it.
    #[arg(long)]
    pub(super) explain: bool,
    /// Compare many pairs: a JSON array or JSON lines of `{id, old, new}`, where `old` is the outer schema; `-` reads
    /// standard input. Prints one JSON line a pair.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["outer", "inner", "explain"])]
    pub(super) batch: Option<Utf8PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// Where the store is looked for: a bundle, or any directory below `bailiwick.toml`.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) directory: Utf8PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// The directory to write to. Nothing that is there is overwritten.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) directory: Utf8PathBuf,
    /// Write a Bundle with two agents instead of one agent.
    #[arg(long)]
    pub(super) bundle: bool,
    /// The id of what is written: `namespace.name`.
    #[arg(long, value_name = "ID", default_value = "example.assistant")]
    pub(super) id: String,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// A code such as `narrow::widened`; without one, all codes are listed.
    #[arg(value_name = "CODE")]
    pub(super) code: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum SchemaKind {
    /// Any document; the kind decides.
    Document,
    /// `kind: Agent`.
    Agent,
    /// `kind: Tool`.
    Tool,
    /// `kind: Policy`.
    Policy,
    /// `kind: Bundle`.
    Bundle,
    /// What `--format json` prints.
    Report,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// Which schema.
    #[arg(value_enum, value_name = "KIND", ignore_case = true)]
    pub(super) kind: SchemaKind,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Write a page for each command to this directory.
    #[arg(value_name = "DIR")]
    pub(super) directory: Option<Utf8PathBuf>,
}
