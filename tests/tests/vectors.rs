//! The samples' snapshots, byte for byte: a change of the format or of a decision shows here first.
//!
//! `snapshots/vectors/check.py` checks the same files in a second implementation. `UPDATE=1` writes them anew.

#![expect(clippy::disallowed_methods, reason = "UPDATE asks for new expectations")]

use bailiwick::{LockMode, OpenCatalogs, Session, compile};
use camino::{Utf8Path, Utf8PathBuf};

#[test]
fn the_snapshots_of_the_samples() {
    let root =
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize_utf8().expect("the repository");
    for sample in ["weather-assistant", "payment-desk"] {
        let mut session = Session::new();
        let bundle = Utf8PathBuf::from(format!("bundles/samples/{sample}"));
        let compiled = compile(&mut session, &mut OpenCatalogs::default(), &bundle, &root, &LockMode::Keep)
            .compiled
            .expect("a sample compiles");
        let vector = root.join(format!("snapshots/vectors/snapshot-{sample}.json"));
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&vector, &compiled.bytes).expect("written");
            std::fs::write(vector.with_extension("sha256"), format!("{}\n", compiled.digest))
                .expect("written");
        }
        let stated = std::fs::read_to_string(vector.with_extension("sha256")).expect("a digest");
        assert_eq!(stated.trim(), compiled.digest.to_string(), "{sample}");
        assert!(
            std::fs::read(&vector).expect("a vector") == compiled.bytes,
            "{sample} differs from its vector"
        );
    }
}
