use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::source::{SourceMap, Span};

/// A folder with these files, each holding its own path; a path that ends in `/` is a directory.
fn folder(paths: &[&str]) -> (TempDir, Folder) {
    let directory = tempfile::tempdir().expect("a directory");
    for path in paths {
        let full = directory.path().join(path);
        if path.ends_with('/') {
            fs::create_dir_all(full).expect("a directory");
            continue;
        }
        fs::create_dir_all(full.parent().expect("a parent")).expect("a directory");
        fs::write(full, path).expect("a file");
    }
    let folder = Folder::open(utf8(&directory)).expect("it is there");
    (directory, folder)
}

fn utf8(directory: &TempDir) -> &Utf8Path {
    Utf8Path::from_path(directory.path()).expect("UTF-8")
}

fn not_found(fault: FileFault) -> (Vec<String>, Option<String>) {
    let FileFault::NotFound { tried, nearest, .. } = fault else { panic!("{fault:?}") };
    (tried, nearest)
}

#[test]
fn files_inside_are_read_however_the_path_is_written() {
    let (_directory, folder) = folder(&["agent.yaml", "tools/a.yaml", "größe.md"]);
    let rows = [
        ("agent.yaml", "agent.yaml"),
        ("./agent.yaml", "agent.yaml"),
        ("tools//a.yaml", "tools/a.yaml"),
        ("tools/../agent.yaml", "agent.yaml"),
        ("tools/./../tools/a.yaml", "tools/a.yaml"),
        ("größe.md", "größe.md"),
    ];
    for (path, held) in rows {
        assert_eq!(folder.read(path).map(String::from_utf8), Ok(Ok(held.to_owned())), "{path}");
    }
}

#[test]
fn no_path_leads_out_by_how_it_is_written() {
    let (_directory, folder) = folder(&["agent.yaml", "tools/a.yaml"]);
    let rows = [
        ("../x", OutsideHow::Lexical),
        ("tools/../../x", OutsideHow::Lexical),
        ("tools/../../x/../y", OutsideHow::Lexical),
        ("/etc/passwd", OutsideHow::Absolute),
        ("\\x", OutsideHow::Absolute),
        ("C:/x", OutsideHow::Absolute),
        ("c:x", OutsideHow::Absolute),
        ("tools\\a.yaml", OutsideHow::Backslash),
    ];
    for (path, expected) in rows {
        let by_read = folder.read(path).expect_err(path);
        assert_eq!(by_read, FileFault::Outside { path: path.to_owned(), how: expected });
        assert_eq!(folder.find(path, None, RefKind::Document), Err(by_read));
    }
    for path in ["", ".", "tools/.."] {
        assert!(matches!(folder.read(path), Err(FileFault::NotRegular { .. })), "{path}");
    }
    assert!(matches!(folder.read("a\0b"), Err(FileFault::NotFound { .. })));
    assert!(matches!(
        folder.find("a", Some("../../../x"), RefKind::Document),
        Err(FileFault::Outside { .. })
    ));
}

#[test]
fn a_name_matches_to_the_letter() {
    let (directory, folder) = folder(&["agent.yaml", "tools/send-alert.yaml"]);
    let rows = [
        ("Agent.yaml", Some("agent.yaml")),
        ("agnet.yaml", Some("agent.yaml")),
        ("Tools/send-alert.yaml", Some("tools")),
        ("tools/send-alrt.yaml", Some("tools/send-alert.yaml")),
        ("agent.yaml/x", None),
        ("nothing/like/it", None),
    ];
    for (path, expected) in rows {
        let (tried, nearest) = not_found(folder.read(path).expect_err(path));
        assert_eq!((tried, nearest.as_deref()), (vec![path.to_owned()], expected));
    }
    fs::write(directory.path().join("new.yaml"), "new").expect("a file");
    assert!(folder.read("new.yaml").is_ok(), "what came later is found");
}

#[cfg(target_os = "linux")]
#[test]
fn two_names_that_differ_by_case_are_a_fault() {
    let (_directory, folder) =
        folder(&["tools/a.yaml", "tools/A.yaml", "tools/b.yaml", "README.md", "readme.md"]);
    let clash = FileFault::CaseClash { path: "tools/a.yaml".to_owned(), other: "tools/A.yaml".to_owned() };
    assert_eq!(folder.read("tools/a.yaml"), Err(clash.clone()));
    assert_eq!(folder.find("tools/a", None, RefKind::Document), Err(clash));
    assert!(folder.read("tools/b.yaml").is_ok());
    let clash = FileFault::CaseClash { path: "tools/A.yaml".to_owned(), other: "tools/a.yaml".to_owned() };
    assert_eq!(folder.walk(&[]), Err(clash));
    let (_directory, folder) = super::tests::folder(&["a.yaml", "README.md", "readme.md"]);
    assert_eq!(folder.walk(&[]), Ok(vec!["a.yaml".to_owned()]), "neither is walked");
    let (_directory, folder) = super::tests::folder(&["tools/a.yaml", "Tools/b.yaml"]);
    assert!(matches!(folder.read("tools/a.yaml"), Err(FileFault::CaseClash { .. })));
    assert!(matches!(folder.walk(&[]), Err(FileFault::CaseClash { .. })));
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_and_nowhere_else() {
    use std::os::unix::fs::symlink;

    let (outside, _) = folder(&["secret.yaml", "tools/x.yaml"]);
    let (directory, folder) = folder(&["real/a.yaml"]);
    let link =
        |target: &std::path::Path, name: &str| symlink(target, directory.path().join(name)).expect("a link");
    link("real/a.yaml".as_ref(), "inside.yaml");
    link("real".as_ref(), "also");
    link(&outside.path().join("secret.yaml"), "secret.yaml");
    link(&outside.path().join("tools"), "tools");
    link("nowhere".as_ref(), "dangling.yaml");
    link("circle.yaml".as_ref(), "circle.yaml");

    assert!(folder.read("inside.yaml").is_ok());
    assert!(folder.read("also/a.yaml").is_ok());
    for (path, entry) in
        [("secret.yaml", "secret.yaml"), ("tools/x.yaml", "tools"), ("tools/none.yaml", "tools")]
    {
        let expected = FileFault::Outside { path: entry.to_owned(), how: OutsideHow::Link };
        assert_eq!(folder.read(path), Err(expected), "{path}");
    }
    assert!(matches!(folder.find("tools/x", None, RefKind::Document), Err(FileFault::Outside { .. })));
    assert!(matches!(folder.read("dangling.yaml"), Err(FileFault::NotFound { .. })));
    let circle = folder.read("circle.yaml").expect_err("a circle");
    assert_eq!(circle.to_string(), "`circle.yaml` cannot be read: too many levels of symbolic links");
    let expected = FileFault::Outside { path: "tools".to_owned(), how: OutsideHow::Link };
    assert_eq!(folder.walk(&[]), Err(expected), "what lies behind it would not be seen");
    std::fs::remove_file(directory.path().join("tools")).expect("removed");
    let walked = folder.walk(&[]).expect("no fault of its own");
    assert_eq!(walked, ["circle.yaml", "dangling.yaml", "inside.yaml", "real/a.yaml", "secret.yaml"]);
}

#[cfg(unix)]
#[test]
fn only_regular_files_are_read_and_nothing_waits() {
    let (directory, folder) = folder(&["tools/a.yaml"]);
    let pipe = directory.path().join("pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let _socket =
        std::os::unix::net::UnixListener::bind(directory.path().join("socket.yaml")).expect("a socket");
    for (path, what) in [("pipe.yaml", "a named pipe"), ("socket.yaml", "a socket"), ("tools", "a directory")]
    {
        assert_eq!(folder.read(path), Err(FileFault::NotRegular { path: path.to_owned(), what }));
    }
    // They are listed, so that reading them says it.
    let walked = folder.walk(&[]).expect("no fault of its own");
    assert_eq!(walked, ["pipe.yaml", "socket.yaml", "tools/a.yaml"]);
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_says_so_in_words() {
    use std::os::unix::fs::PermissionsExt;

    let error = std::io::Error::from(ErrorKind::PermissionDenied);
    assert_eq!(
        unreadable("a", &error),
        FileFault::Unreadable { path: "a".to_owned(), reason: "permission is denied".to_owned() }
    );
    let (directory, folder) = folder(&["a.yaml"]);
    let path = directory.path().join("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o0)).expect("permissions");
    // A superuser may read it all the same.
    assert_eq!(folder.read("a.yaml").is_ok(), fs::read(&path).is_ok());
}

#[test]
fn a_file_has_at_most_a_mebibyte() {
    let (directory, folder) = folder(&[]);
    fs::write(directory.path().join("most.yaml"), vec![b'a'; MAX_BYTES]).expect("a file");
    fs::write(directory.path().join("more.yaml"), vec![b'a'; MAX_BYTES + 1]).expect("a file");
    assert_eq!(folder.read("most.yaml").map(|bytes| bytes.len()), Ok(MAX_BYTES));
    assert_eq!(folder.read("more.yaml"), Err(FileFault::TooLarge { path: "more.yaml".to_owned() }));
}

#[test]
fn references_are_searched_in_order() {
    use RefKind::{Document, Instructions, Schema};

    let (_directory, folder) = folder(&[
        "tools/a.yaml",
        "tools/a.yml",
        "tools/b.yml",
        "prompts/p.md",
        "prompts/q.yaml",
        "prompts/q.md",
        "prompts/t.txt",
        "schemas/s.json",
        "schemas/s.yaml",
        "schemas/u.yaml",
        "schemas/w.yml",
        "prompts/p-2.md",
        "prompts/p/3.md",
        "prompts/p/v4.yaml",
        "schemas/s-1.json",
        "prompts/a.b.md",
    ]);
    let rows = [
        ("tools/a", None, Document, "tools/a.yaml"),
        ("tools/b", None, Document, "tools/b.yml"),
        ("tools/a.yml", None, Document, "tools/a.yml"),
        ("./tools/../tools/a", None, Document, "tools/a.yaml"),
        ("prompts/p", None, Instructions, "prompts/p.md"),
        ("prompts/q", None, Instructions, "prompts/q.yaml"),
        ("prompts/q.md", None, Instructions, "prompts/q.md"),
        ("prompts/t.txt", None, Instructions, "prompts/t.txt"),
        ("prompts/a.b", None, Instructions, "prompts/a.b.md"),
        ("schemas/s", None, Schema, "schemas/s.json"),
        ("schemas/u", None, Schema, "schemas/u.yaml"),
        ("schemas/w", None, Schema, "schemas/w.yml"),
        ("prompts/p", Some("2"), Instructions, "prompts/p-2.md"),
        ("prompts/p", Some("3"), Instructions, "prompts/p/3.md"),
        ("prompts/p", Some("4"), Instructions, "prompts/p/v4.yaml"),
        ("schemas/s.json", Some("1"), Schema, "schemas/s-1.json"),
    ];
    for (reference, version, kind, expected) in rows {
        assert_eq!(folder.find(reference, version, kind).as_deref(), Ok(expected), "{reference}");
    }
}

/// Reference, version, kind; what is tried and what is offered.
type Row<'a> = (&'a str, Option<&'a str>, RefKind, &'a [&'a str], Option<&'a str>);

#[test]
fn a_reference_that_leads_nowhere_says_what_was_tried() {
    let (_directory, folder) =
        folder(&["tools/send-alert.yaml", "schemas/s.json", "schemas/s-1.json", "prompts/p.md"]);
    let rows: &[Row<'_>] = &[
        (
            "tools/send-alrt",
            None,
            RefKind::Document,
            &["tools/send-alrt.yaml", "tools/send-alrt.yml"],
            Some("tools/send-alert"),
        ),
        (
            "tools/send-alrt.yaml",
            None,
            RefKind::Document,
            &["tools/send-alrt.yaml"],
            Some("tools/send-alert.yaml"),
        ),
        ("schemas/s.yaml", None, RefKind::Schema, &["schemas/s.yaml"], Some("schemas/s.json")),
        ("tols/send-alert.yaml", None, RefKind::Document, &["tols/send-alert.yaml"], Some("tools")),
        ("prompts/p.txt", None, RefKind::Instructions, &["prompts/p.txt"], Some("prompts/p.md")),
        (
            "schemas/s.json",
            Some("2"),
            RefKind::Schema,
            &["schemas/s-2.json", "schemas/s/2.json", "schemas/s/v2.json"],
            Some("schemas/s-1.json"),
        ),
        ("other/far", None, RefKind::Document, &["other/far.yaml", "other/far.yml"], None),
    ];
    for (reference, version, kind, tried, nearest) in rows {
        let fault = folder.find(reference, *version, *kind).expect_err(reference);
        let (found_tried, found_nearest) = not_found(fault);
        assert_eq!(found_tried, *tried, "{reference}");
        assert_eq!(found_nearest.as_deref(), *nearest, "{reference}");
    }
}

#[test]
fn a_walk_gives_documents_in_order_and_leaves_out_what_is_hidden() {
    let (_directory, folder) = folder(&[
        "b.yaml",
        "a.yml",
        "a/z.yaml",
        "a/deep/er/x.yaml",
        "a-b.yaml",
        "README.md",
        ".git/x.yaml",
        ".bailiwick/x.yaml",
        "._a.yaml",
        ".DS_Store",
        "skip/x.yaml",
        "skip/deep/x.yaml",
        "upper.YAML",
        "a/.hidden.yaml",
        "empty/",
    ]);
    let skip = [folder.root().join("skip")];
    let walked = folder.walk(&skip).expect("no fault");
    assert_eq!(walked, ["a-b.yaml", "a.yml", "a/deep/er/x.yaml", "a/z.yaml", "b.yaml", "upper.YAML"]);
    for path in walked {
        assert!(folder.read(&path).is_ok(), "{path}");
    }
    let (_directory, folder) = super::tests::folder(&["a.yaml", "b/c.yaml", "b/d.txt"]);
    assert!(folder.walk_at_most(4, &[]).is_ok());
    assert_eq!(folder.walk_at_most(3, &[]), Err(FileFault::TooMany { path: String::new(), limit: 3 }));
}

#[test]
fn a_folder_is_called_what_was_typed() {
    let rows = [
        (".", "x"),
        ("./", "x"),
        ("./a", "a/x"),
        ("a/", "a/x"),
        ("a//", "a/x"),
        ("/", "/x"),
        ("../a", "../a/x"),
        ("./.", "x"),
    ];
    for (typed, expected) in rows {
        let prefix = path::shown(Utf8Path::new(typed));
        let separator = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
        assert_eq!(format!("{prefix}{separator}x"), expected, "{typed}");
    }
    let (directory, folder) = folder(&["a.yaml"]);
    assert_eq!(folder.display("a.yaml"), format!("{}/a.yaml", utf8(&directory)));
    assert!(matches!(Folder::open(&utf8(&directory).join("none")), Err(FileFault::NotFound { .. })));
    assert!(matches!(Folder::open(&utf8(&directory).join("a.yaml")), Err(FileFault::NotRegular { .. })));
}

#[test]
fn every_fault_is_a_diagnostic_with_something_to_do() {
    let path = || "a".to_owned();
    let span = Span::of_file(SourceMap::new().add("agent.yaml", ""));
    let faults = [
        (FileFault::NotFound { path: path(), tried: vec![path()], nearest: None }, "file::not-found"),
        (FileFault::Outside { path: path(), how: OutsideHow::Link }, "file::outside-bundle"),
        (FileFault::NotRegular { path: path(), what: "a device" }, "file::not-regular"),
        (FileFault::TooLarge { path: path() }, "read::too-large"),
        (FileFault::CaseClash { path: path(), other: "A".to_owned() }, "file::case-clash"),
        (FileFault::TooMany { path: path(), limit: 1 }, "file::unreadable"),
        (FileFault::Unreadable { path: path(), reason: "of a whim".to_owned() }, "file::unreadable"),
    ];
    for (fault, code) in faults {
        let diagnostic = fault.to_diagnostic(span);
        assert_eq!(diagnostic.code.id, code);
        assert!(diagnostic.help.is_some() && diagnostic.message.contains("`a`"), "{diagnostic:?}");
    }
    let tried = vec!["a.yaml".to_owned(), "a.yml".to_owned()];
    let fault = FileFault::NotFound { path: path(), tried, nearest: Some("b".to_owned()) };
    let diagnostic = fault.to_diagnostic(span);
    assert_eq!(diagnostic.notes, ["looked for `a.yaml`, `a.yml`"]);
    assert_eq!(diagnostic.help.as_deref(), Some("did you mean `b`?"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_normal_path_stays_inside(text in "[a./\\\\:é]{0,12}|.{0,12}") {
        if let Ok(normal) = path::normal(&text) {
            let inside = normal.split('/').all(|part| !matches!(part, "" | "." | ".."));
            prop_assert!(inside, "{normal}");
            prop_assert_eq!(path::normal(&normal), Ok(normal));
        }
    }
}
