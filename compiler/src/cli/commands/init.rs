//! `init`: something that compiles, to begin with.

use bailiwick_bundles::{Diagnostic, LogicalId, code};

use super::super::args::InitArgs;
use super::super::summary::count;
use super::super::{CliError, Context};
use crate::write::write_whole;

/// A file to be written; `{namespace}` and `{name}` are filled in.
type Template = (&'static str, &'static str);

const AGENT: &[Template] = &[
    ("agent.yaml", include_str!("init/agent.yaml")),
    ("prompts/system.md", include_str!("init/system.md")),
    ("tools/look-up.yaml", include_str!("init/look-up.yaml")),
    ("tools/send-message.yaml", include_str!("init/send-message.yaml")),
    ("policies/message-approval.yaml", include_str!("init/message-approval.yaml")),
];

const BUNDLE: &[Template] = &[
    ("bundle.yaml", include_str!("init/bundle.yaml")),
    ("agents/desk.yaml", include_str!("init/desk.yaml")),
    ("agents/researcher.yaml", include_str!("init/researcher.yaml")),
    ("prompts/system.md", include_str!("init/system.md")),
    ("tools/look-up.yaml", include_str!("init/look-up.yaml")),
    ("tools/send-message.yaml", include_str!("init/send-message.yaml")),
    ("policies/message-approval.yaml", include_str!("init/message-approval.yaml")),
];

pub(in super::super) fn init(context: &mut Context<'_, '_>, args: &InitArgs) -> Result<u8, CliError> {
    let id: LogicalId = match args.id.parse() {
        Ok(id) => id,
        Err(error) => {
            context.session.push(
                Diagnostic::new(&code::INVALID_NAME, format!("{error}"))
                    .help("such as `--id support.refund-agent`"),
            );
            return context.fail();
        }
    };
    let templates = if args.bundle { BUNDLE } else { AGENT };
    let folder = context.io.cwd.join(&args.directory);
    // Nothing is written unless all of it can be.
    if let Some((taken, _)) = templates.iter().find(|(path, _)| folder.join(path).symlink_metadata().is_ok())
    {
        let message = format!("`{}` is there already; nothing was written", args.directory.join(taken));
        context.session.push(Diagnostic::new(&code::STORE_IO, message).help("name an empty directory"));
        return context.fail();
    }
    for (path, template) in templates {
        let text =
            template.replace("{namespace}", id.namespace().as_str()).replace("{name}", id.name().as_str());
        if let Err(reason) = write_whole(&folder.join(path), text.as_bytes()) {
            let message = format!("`{}` cannot be written: {reason}", args.directory.join(path));
            context.session.push(Diagnostic::new(&code::STORE_IO, message));
            return context.fail();
        }
    }
    let next = if args.directory == "." { String::new() } else { format!(" {}", args.directory) };
    writeln!(
        context.io.stdout,
        "wrote {} to `{}`; next: `bailiwick check{next}`",
        count(templates.len(), "file"),
        args.directory
    )?;
    Ok(0)
}
