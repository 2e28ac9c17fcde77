//! A sign of life on standard error, only where somebody is watching and a run takes longer than a second.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress over `n_items`.
#[derive(Debug)]
pub(super) struct Progress {
    bar: ProgressBar,
}

/// How long a run stays silent.
const PATIENCE: Duration = Duration::from_secs(1);

impl Progress {
    pub(super) fn new(n_items: usize, interactive: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(n_items as u64), ProgressDrawTarget::hidden());
        bar.set_style(
            ProgressStyle::with_template("checked {pos} of {len} bundles")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        Self { bar: if interactive { bar } else { ProgressBar::hidden() } }
    }

    /// One more item is done.
    pub(super) fn step(&self) {
        self.bar.inc(1);
        if self.bar.elapsed() > PATIENCE && self.bar.is_hidden() && self.bar.length().is_some() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
        }
    }

    pub(super) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
