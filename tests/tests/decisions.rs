//! What the samples decide, call by call: `tests/data/decisions.json`.

use bailiwick_tests::command;
use camino::Utf8Path;
use serde_json::Value;

#[test]
fn the_samples_decide_as_the_table_says() {
    let root =
        Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize_utf8().expect("the repository");
    let table: Vec<Value> = serde_json::from_str(include_str!("../data/decisions.json")).expect("a table");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut n_calls = 0;
    for row in &table {
        let source = format!("bundles/samples/{}", text(&row["sample"]));
        for call in row["calls"].as_array().expect("calls") {
            let (agent, tool, arguments) =
                (text(&row["agent"]), text(&row["tool"]), call["arguments"].to_string());
            let phase = call["phase"].as_str().unwrap_or("call");
            let line = [
                "decide", &source, &agent, &tool, "--args", &arguments, "--phase", phase, "--format", "json",
            ];
            let ran = command(&root, line);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            let decided: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            assert_eq!(
                decided["decision"], call["decision"],
                "{tool} with {arguments} at {phase}: {decided}"
            );
            if let Some(n) = call["approvals"].as_u64() {
                assert_eq!(decided["requirements"]["approvals_required"], n, "{arguments}");
            }
            n_calls += 1;
        }
    }
    assert!(n_calls >= 19);
}
