#!/usr/bin/env python3
"""A second implementation of canonical JSON and of the store, to check the first one by.

    check.py              checks every vector beside this file
    check.py --store DIR  checks every promise of a store

Standard library only, and nothing taken from the Rust sources: the rules are RFC 8785, ECMA-262
"Number::toString", and the page at the head of `snapshots/src/store.rs`. Prints each fault; exit code 0 when there
is none, else 1.
"""

import hashlib
import json
import pathlib
import re
import sys
from decimal import Decimal

EXACT = 2**53
DEPTH = 120


class Refused(Exception):
    """A text has no canonical form, or is not JSON."""


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


# Canonical JSON


def parse(text, integer):
    def members(pairs):
        if len({key for key, _ in pairs}) != len(pairs):
            raise Refused("duplicate key")
        return dict(pairs)

    def constant(name):
        raise Refused(name)

    try:
        return json.loads(text, object_pairs_hook=members, parse_int=integer, parse_constant=constant)
    except (ValueError, RecursionError) as error:
        raise Refused(str(error)) from None


def exact(digits):
    """An integer as an author writes it: beyond 2^53 it would be rounded."""
    number = int(digits)
    if abs(number) > EXACT:
        raise Refused(f"integer {digits}")
    return number


def as_printed(digits):
    """An integer in canonical bytes: beyond 2^53 it is how a float is printed."""
    number = int(digits)
    return number if abs(number) <= EXACT else float(number)


def number(value):
    if isinstance(value, int):
        return str(value)
    if value != value or value in (float("inf"), float("-inf")):
        raise Refused("not a finite number")
    if value == 0:
        return "0"
    # repr gives the shortest digits that read back as the same double, as ECMA-262 asks for.
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    digits = "".join(map(str, digits))
    k, n = len(digits), len(digits) + exponent
    if k <= n <= 21:
        text = digits + "0" * (n - k)
    elif 0 < n <= 21:
        text = digits[:n] + "." + digits[n:]
    elif -6 < n <= 0:
        text = "0." + "0" * -n + digits
    else:
        text = digits[0] + ("." + digits[1:] if k > 1 else "") + "e" + ("+" if n > 0 else "-") + str(abs(n - 1))
    return ("-" if sign else "") + text


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def string(text):
    return '"' + "".join(SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'


def write(value, depth=0):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        return string(value)
    if depth == DEPTH:
        raise Refused("too deep")
    if isinstance(value, list):
        return "[" + ",".join(write(item, depth + 1) for item in value) + "]"
    keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(string(key) + ":" + write(value[key], depth + 1) for key in keys) + "}"


def canonical(value):
    try:
        return write(value).encode()
    except UnicodeEncodeError:
        raise Refused("half of a surrogate pair") from None


def read_canonical(data):
    try:
        value = parse(data.decode(), as_printed)
    except UnicodeDecodeError:
        raise Refused("not UTF-8") from None
    if canonical(value) != data:
        raise Refused("not in canonical form")
    return value


# The store

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
EMPTY = {"mediaType": "application/vnd.oci.empty.v1+json", "digest": sha256(b"{}"), "size": 2}
TYPES = {
    "agent": ("application/vnd.bailiwick.snapshot.v1+json", "snapshot.json"),
    "bundle": ("application/vnd.bailiwick.snapshot.v1+json", "snapshot.json"),
    "tool": ("application/vnd.bailiwick.contract.v1+json", "contract.json"),
    "policy": ("application/vnd.bailiwick.contract.v1+json", "contract.json"),
}


def annotations(document, data):
    identity = document["identity"]
    return {
        "bailiwick.dev/id": identity["namespace"] + "." + identity["name"],
        "bailiwick.dev/version": identity["version"],
        "bailiwick.dev/kind": document["kind"],
        "bailiwick.dev/digest": sha256(data),
    }


def content_of(document, data):
    """The digest of what a document is apart from its version."""
    identity = document["identity"]
    name = identity["namespace"] + "." + identity["name"]
    bare = canonical({"identity": identity | {"version": ""}})[1:-1]
    data = replace_whole(data, canonical({"identity": identity})[1:-1], bare)
    return sha256(replace_whole(data, canonical(name + "@" + identity["version"]), canonical(name)))


def replace_whole(data, whole, replacement):
    """Replaces what begins with a quotation mark, but not where that mark is escaped."""
    return re.sub(rb"(?<!\\)" + re.escape(whole), lambda _: replacement, data)


def manifest_of(document, data):
    media_type, title = TYPES[document["kind"]]
    layer = {"mediaType": media_type, "digest": sha256(data), "size": len(data)}
    layer["annotations"] = {"org.opencontainers.image.title": title}
    return canonical({
        "schemaVersion": 2, "mediaType": MANIFEST, "artifactType": media_type, "config": EMPTY,
        "layers": [layer], "annotations": annotations(document, data),
    })


def descriptor_of(document, data):
    manifest = manifest_of(document, data)
    notes = annotations(document, data)
    version = document["identity"]["version"].split("+")[0]
    notes["org.opencontainers.image.ref.name"] = notes["bailiwick.dev/id"] + "-" + version
    notes["bailiwick.dev/content"] = content_of(document, data)
    return {
        "mediaType": MANIFEST, "artifactType": TYPES[document["kind"]][0], "digest": sha256(manifest),
        "size": len(manifest), "annotations": notes,
    }


def precedence(version):
    """A sorting key for semantic versions (semver.org, 11)."""
    core, _, pre = version.split("+")[0].partition("-")
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in pre.split(".") if pre]
    return [int(part) for part in core.split(".")], not pre, parts


def order(descriptor):
    notes = descriptor["annotations"]
    namespace, _, name = notes["bailiwick.dev/id"].partition(".")
    return namespace, name, precedence(notes["bailiwick.dev/version"])


def is_ours(descriptor):
    types = {media_type for media_type, _ in TYPES.values()}
    notes = descriptor.get("annotations", {})
    return descriptor.get("artifactType") in types or any(key.startswith("bailiwick.dev/") for key in notes)


def without_tags(descriptors):
    """Leaves out a descriptor that differs from an earlier one by its tag only."""
    kept = {}
    for descriptor in descriptors:
        notes = descriptor["annotations"] | {"org.opencontainers.image.ref.name": None}
        kept.setdefault(canonical(descriptor | {"annotations": notes}), descriptor)
    return list(kept.values())


def check_store(files):
    """All faults of a store, given as a map from relative paths to bytes."""
    faults = []
    for path, data in sorted(files.items()):
        folder, _, name = path.rpartition("/")
        if folder == "blobs/sha256" and re.fullmatch("[0-9a-f]{64}", name) and sha256(data) != "sha256:" + name:
            faults.append(f"{path}: the content has digest {sha256(data)}")
    try:
        assert parse(files["oci-layout"].decode(), int)["imageLayoutVersion"] == "1.0.0"
    except (Refused, AssertionError, KeyError, TypeError, ValueError) as error:
        faults.append(f"oci-layout: not as specified: {error}")
    try:
        index = parse(files["index.json"].decode(), int)
        assert index["schemaVersion"] == 2 and index.get("mediaType", INDEX) == INDEX
        ours = without_tags(descriptor for descriptor in index["manifests"] if is_ours(descriptor))
        keys = [order(descriptor) for descriptor in ours]
        assert keys == sorted(keys), "not sorted"
        assert len({str(key) for key in keys}) == len(keys), "a version is listed twice"
        kinds = {(d["annotations"]["bailiwick.dev/id"], d["annotations"]["bailiwick.dev/kind"]) for d in ours}
        assert len({name for name, _ in kinds}) == len(kinds), "an id has two kinds"
    except (Refused, AssertionError, KeyError, TypeError, AttributeError, ValueError) as error:
        return faults + [f"index.json: damaged: {error}"]
    for descriptor in ours:
        notes = descriptor["annotations"]
        label = f"{notes['bailiwick.dev/id']}@{notes['bailiwick.dev/version']}"
        digest = notes["bailiwick.dev/digest"]
        blob = {d: files.get("blobs/sha256/" + d.removeprefix("sha256:")) for d in
                (digest, descriptor["digest"], EMPTY["digest"])}
        faults += [f"{label}: blob {digest} is missing" for digest, data in blob.items() if data is None]
        if None in blob.values():
            continue
        try:
            document = read_canonical(blob[digest])
            if descriptor != descriptor_of(document, blob[digest]):
                faults.append(f"{label}: the index does not describe the document")
            if blob[descriptor["digest"]] != manifest_of(document, blob[digest]):
                faults.append(f"{label}: the manifest does not describe the document")
        except (Refused, KeyError, TypeError) as error:
            faults.append(f"{label}: the document is not as specified: {error}")
    return faults


def store_of(documents):
    """The files of the store to which these canonical documents were published."""
    files = {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}', "index.lock": b""}
    descriptors = []
    for data in documents:
        document = read_canonical(data)
        for blob in (data, b"{}", manifest_of(document, data)):
            files["blobs/sha256/" + sha256(blob).removeprefix("sha256:")] = blob
        descriptors.append(descriptor_of(document, data))
    descriptors.sort(key=order)
    files["index.json"] = canonical({"schemaVersion": 2, "mediaType": INDEX, "manifests": descriptors})
    return files


# The vectors


def refuses(check, argument):
    try:
        check(argument)
    except Refused:
        return True
    return False


def check_vectors(folder):
    faults = []

    def expect(holds, name):
        if not holds:
            faults.append(name)

    vectors = json.loads((folder / "canonical.json").read_text("utf-8"))
    for vector in vectors["canonical"]:
        data = canonical(parse(vector["input"], exact))
        expect(data.decode() == vector["canonical"], f"canonical.json: {vector['name']}: {data.decode()}")
        expect(sha256(data) == vector["sha256"], f"canonical.json: {vector['name']}: {sha256(data)}")
        expect(not refuses(read_canonical, data), f"canonical.json: {vector['name']}: does not read back")
    for vector in vectors["refused"]:
        refused = refuses(lambda text: canonical(parse(text, exact)), vector["input"])
        expect(refused, f"canonical.json: {vector['name']}: is not refused")
    for vector in vectors["other_spellings"]:
        refused = refuses(read_canonical, vector["input"].encode())
        expect(refused, f"canonical.json: {vector['name']}: is not refused")

    vector = json.loads((folder / "store.json").read_text("utf-8"))
    expected = {path: text.encode() for path, text in vector["files"].items()}
    made = store_of([text.encode() for text in vector["documents"]])
    for path in sorted(expected.keys() | made.keys()):
        expect(expected.get(path) == made.get(path), f"store.json: {path}")
    faults.extend(f"store.json: {fault}" for fault in check_store(expected))
    for path, data in expected.items():
        if data:
            damaged = check_store(expected | {path: data[:-1]})
            expect(damaged, f"store.json: a shorter {path} is not found")

    n_snapshots = 0
    for path in sorted(folder.glob("snapshot-*.json")):
        n_snapshots += 1
        data = path.read_bytes()
        stated = path.with_suffix(".sha256").read_text("ascii").split()[0].removeprefix("sha256:")
        expect(sha256(data) == "sha256:" + stated, f"{path.name}: {sha256(data)}")
        expect(not refuses(read_canonical, data), f"{path.name}: not in canonical form")
    expect(n_snapshots, "no snapshot-*.json")
    n_texts = sum(len(vectors[part]) for part in ("canonical", "refused", "other_spellings"))
    return faults, f"{n_texts} texts, 1 store, {n_snapshots} snapshots"


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "--store":
        root = pathlib.Path(arguments[1])
        paths = [path for path in root.rglob("*") if path.is_file() and not path.is_symlink()]
        files = {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
        faults, checked = check_store(files), f"{len(files)} files"
    elif not arguments:
        faults, checked = check_vectors(pathlib.Path(__file__).resolve().parent)
    else:
        print("usage: check.py [--store DIR]", file=sys.stderr)
        return 2
    for fault in faults:
        print(fault)
    print(f"{checked}: {len(faults)} faults" if faults else f"{checked}: all as they must be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
