//! The labelled pairs as a table: what was decided, what was not, and how long each pair took; beside the same from
//! `jsonschema::canonical`.
//!
//! `cargo bench -p bailiwick-narrowing --bench cases`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a bench prints, and stops on a broken data file"
)]

use std::time::{Duration, Instant};

use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
use jsonschema::canonical::{self, Containment};
use serde_json::Value;

const REPEATS: usize = 7;

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Narrows,
    Widens,
    Undecided,
    Refused,
}

fn main() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../tests/data/narrowing.json")).unwrap();
    println!("| | proved | refuted | wrong | undecided | refused | median | p99 | total |");
    println!("|---|---|---|---|---|---|---|---|---|");
    table("bailiwick-narrowing", &cases, REPEATS, ours);
    // Linux only: elsewhere the line is left out.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_owned();
    table("jsonschema::canonical covers", &cases, 1, theirs);
    println!("peak memory of the first row: {}", peak.trim_start_matches("VmHWM:").trim());
}

fn table(name: &str, cases: &[Value], repeats: usize, answer: impl Fn(&Value, &Value) -> Answer) {
    let mut tally = [0_usize; 5];
    let mut times: Vec<(Duration, &str)> = Vec::new();
    for case in cases {
        let mut found = Answer::Refused;
        let mut runs: Vec<Duration> = Vec::new();
        for _ in 0..repeats {
            let start = Instant::now();
            found = answer(&case["old"], &case["new"]);
            runs.push(start.elapsed());
        }
        runs.sort_unstable();
        times.push((runs[repeats / 2], case["id"].as_str().unwrap()));
        let narrows = case["truth"] == "narrows";
        let kind = match found {
            Answer::Narrows if narrows => 0,
            Answer::Widens if !narrows => 1,
            Answer::Narrows | Answer::Widens => 2,
            Answer::Undecided => 3,
            Answer::Refused => 4,
        };
        tally[kind] += 1;
    }
    times.sort_unstable();
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].0;
    let [proved, disproved, wrong, undecided, refused] = tally;
    let (median, last) = (at(50), at(99));
    println!(
        "| {name} | {proved} | {disproved} | {wrong} | {undecided} | {refused} | {median:.1?} | {last:.1?} | {total:.1?} |"
    );
    let slowest: Vec<String> =
        times.iter().rev().take(4).map(|(time, id)| format!("{id} {time:.1?}")).collect();
    println!("<!-- slowest: {} -->", slowest.join(", "));
}

fn ours(outer: &Value, inner: &Value) -> Answer {
    let (Ok(outer), Ok(inner)) = (Schema::compile(outer), Schema::compile(inner)) else {
        return Answer::Refused;
    };
    match contains(&outer, &inner, &Budget::default()) {
        Verdict::Contained(_) => Answer::Narrows,
        Verdict::Escapes(_) => Answer::Widens,
        Verdict::Undecided(_) => Answer::Undecided,
    }
}

fn theirs(outer: &Value, inner: &Value) -> Answer {
    let canonical = |value: &Value| canonical::options().should_validate_formats(true).canonicalize(value);
    let (Ok(outer), Ok(inner)) = (canonical(outer), canonical(inner)) else { return Answer::Refused };
    match outer.covers(&inner) {
        Ok(Containment::Yes) => Answer::Narrows,
        Ok(Containment::No) => Answer::Widens,
        Ok(Containment::Unknown) => Answer::Undecided,
        Err(_) => Answer::Refused,
    }
}
