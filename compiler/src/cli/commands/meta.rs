//! `explain`, `schema`, `completions`, `man`: the program about itself.

use bailiwick_bundles::documents::phrony::{
    AgentDocument, BundleDocument, PolicyDocument, ToolDocument, document_schema,
};
use bailiwick_bundles::{Code, Diagnostic, code, did_you_mean, nearest};
use serde_json::Value;

use super::super::args::{CompletionsArgs, ExplainArgs, Format, ManArgs, SchemaArgs, SchemaKind, command};
use super::super::report::{self, write_json};
use super::super::{CliError, Context};
use crate::write::write_whole;

pub(in super::super) fn explain(context: &mut Context<'_, '_>, args: &ExplainArgs) -> Result<u8, CliError> {
    let Some(wanted) = &args.code else {
        for code in code::ALL {
            writeln!(context.io.stdout, "{:32} {}", code.id, code.severity.as_str())?;
        }
        return Ok(0);
    };
    let Some(code) = Code::find(wanted) else {
        writeln!(context.io.stderr, "error: no code is called `{wanted}`; {}", codes_like(wanted))?;
        return Ok(2);
    };
    match context.format {
        Format::Human => write!(context.io.stdout, "{}", code.page)?,
        Format::Json => {
            let value =
                serde_json::json!({ "code": code.id, "severity": code.severity.as_str(), "page": code.page });
            write_json(context.io.stdout, &value)?;
        }
    }
    Ok(0)
}

/// The codes that may be meant by a part of one, or by one that is misspelt.
fn codes_like(wanted: &str) -> String {
    let ids = || code::ALL.iter().map(|code| code.id);
    let name = |id: &'static str| id.split_once("::").map_or(id, |(_, name)| name);
    let of_stage = code::ALL.iter().filter(|code| code.stage() == wanted).map(|code| code.id);
    let found: Vec<&str> = of_stage.chain(ids().filter(|id| name(id) == wanted)).collect();
    if let [_, _, ..] = found.as_slice() {
        let listed: Vec<String> = found.iter().map(|id| format!("\n  {id}")).collect();
        return format!("did you mean one of these?{}", listed.concat());
    }
    let by_name = || ids().find(|id| nearest(wanted, ids().map(name)) == Some(name(id)));
    let near = found.first().copied().or_else(|| nearest(wanted, ids())).or_else(by_name);
    did_you_mean(near, "`bailiwick explain` lists them")
}

pub(in super::super) fn schema(context: &mut Context<'_, '_>, args: &SchemaArgs) -> Result<u8, CliError> {
    let schema: Value = match args.kind {
        SchemaKind::Document => document_schema(),
        SchemaKind::Agent => schemars::schema_for!(AgentDocument).to_value(),
        SchemaKind::Tool => schemars::schema_for!(ToolDocument).to_value(),
        SchemaKind::Policy => schemars::schema_for!(PolicyDocument).to_value(),
        SchemaKind::Bundle => schemars::schema_for!(BundleDocument).to_value(),
        SchemaKind::Report => report::schema(),
    };
    write_json(context.io.stdout, &schema)?;
    Ok(0)
}

pub(in super::super) fn completions(
    context: &mut Context<'_, '_>,
    args: &CompletionsArgs,
) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "bailiwick", &mut script);
    context.io.stdout.write_all(&script)?;
    Ok(0)
}

pub(in super::super) fn man(context: &mut Context<'_, '_>, args: &ManArgs) -> Result<u8, CliError> {
    let Some(directory) = &args.directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(command()).render(&mut page)?;
        context.io.stdout.write_all(&page)?;
        return Ok(0);
    };
    let folder = context.io.cwd.join(directory);
    let mut root = command();
    root.build();
    let mut pages = vec![("bailiwick.1".to_owned(), root.clone())];
    for subcommand in root.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        let name = format!("bailiwick-{}", subcommand.get_name());
        pages.push((format!("{name}.1"), subcommand.clone().display_name(name.clone()).name(name)));
    }
    for (file, subcommand) in pages {
        let mut page = Vec::new();
        clap_mangen::Man::new(subcommand).render(&mut page)?;
        if let Err(reason) = write_whole(&folder.join(&file), &page) {
            let message = format!("`{directory}/{file}` cannot be written: {reason}");
            context.session.push(Diagnostic::new(&code::STORE_IO, message));
            return context.fail();
        }
    }
    writeln!(context.io.stdout, "wrote the manual pages to `{directory}`")?;
    Ok(0)
}
