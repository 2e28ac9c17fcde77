//! One module per command.

mod check;
mod decide;
mod init;
mod lock;
mod meta;
mod narrow;
mod publish;
mod show;
mod verify;
mod why;

pub(super) use check::check;
pub(super) use decide::decide;
pub(super) use init::init;
pub(super) use lock::lock;
pub(super) use meta::{completions, explain, man, schema};
pub(super) use narrow::narrow;
pub(super) use publish::publish;
pub(super) use show::{show, tree};
pub(super) use verify::verify;
pub(super) use why::why;
