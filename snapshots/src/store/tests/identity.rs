//! The identity rules, row by row.

use super::*;

fn refusal(store: &Store, document: &Document) -> PublishError {
    let before = tree(store.path());
    let error = store.publish(&document.artifact()).expect_err("refused");
    assert_eq!(tree(store.path()), before, "a refusal writes nothing");
    error
}

#[test]
fn the_same_again_writes_nothing() {
    let agent = Document::agent("a.a", "1.0.0", "x");
    let (_guard, store) = store_with(&[&agent]);
    let before = tree(store.path());
    let published = store.publish(&agent.artifact()).expect("idempotent");
    assert_eq!(published, Published::Already(agent.digest()));
    assert_eq!(tree(store.path()), before);
}

#[test]
fn a_version_is_bound_to_its_content() {
    let agent = Document::agent("a.a", "1.0.0", "x");
    let (_guard, store) = store_with(&[&agent]);
    let expected = format!("`a.a@1.0.0` is already published with other content ({})", agent.digest());
    for version in ["1.0.0", "1.0.0+other.build"] {
        assert_eq!(refusal(&store, &Document::agent("a.a", version, "y")).to_string(), expected);
    }
}

#[test]
fn content_is_bound_to_its_version() {
    let agent = Document::agent("a.a", "1.0.0", "x");
    let (_guard, store) = store_with(&[&agent]);
    let expected = format!("this content is already published as `a.a@1.0.0` ({})", agent.digest());
    let again = Document::agent("a.a", "1.0.1", "x");
    assert_eq!(refusal(&store, &again).to_string(), expected);
}

#[test]
fn an_id_has_one_kind() {
    let (_guard, store) = store_with(&[&Document::of(ArtifactKind::Tool, "a.a", "1.0.0", "")]);
    for kind in [ArtifactKind::Agent, ArtifactKind::Bundle, ArtifactKind::Policy] {
        for version in ["1.0.0", "2.0.0"] {
            let error = refusal(&store, &Document::of(kind, "a.a", version, ""));
            assert_eq!(error.to_string(), "`a.a` is already published, with kind `tool`");
        }
    }
}

#[test]
fn a_document_is_what_it_says() {
    let (_guard, store) = store_with(&[]);
    let agent = Document::agent("a.a", "1.0.0", "");
    let other = |kind, id: &str, version: &str| {
        let said = Document::of(kind, id, version, "");
        Document { kind: agent.kind, id: agent.id.clone(), version: agent.version.clone(), ..said }
    };
    for (document, expected) in [
        (other(ArtifactKind::Agent, "b.a", "1.0.0"), "`b` at `/identity/namespace`, the store `a`"),
        (other(ArtifactKind::Agent, "a.b", "1.0.0"), "`b` at `/identity/name`, the store `a`"),
        (other(ArtifactKind::Agent, "a.a", "1.0.1"), "`1.0.1` at `/identity/version`, the store `1.0.0`"),
        (other(ArtifactKind::Bundle, "a.a", "1.0.0"), "`bundle` at `/kind`, the store `agent`"),
    ] {
        let expected = format!("the document cannot be published: the document says {expected}");
        assert_eq!(refusal(&store, &document).to_string(), expected);
    }
    let mut spaced = agent.bytes.clone();
    spaced.push(b'\n');
    let spaced = Document { bytes: spaced, ..agent };
    assert!(matches!(refusal(&store, &spaced), PublishError::NotCanonical(_)));
    let large = Document { bytes: vec![b' '; usize::try_from(BLOB_LIMIT).expect("fits") + 1], ..spaced };
    assert!(matches!(refusal(&store, &large), PublishError::TooLarge { .. }));
}
