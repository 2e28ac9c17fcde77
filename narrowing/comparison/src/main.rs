//! The labelled pairs through three provers, as the table of `COMPARISON.md`: is every instance of `new` one of `old`?
//!
//! Each prover gets the two documents and nothing else; `format` is an assertion for all of them. A pair runs on a thread
//! of its own: a panic, and no answer within [`LIMIT`], count as refusals. An answer counts by the pair's label; a witness
//! counts when the validators of `jsonschema` say that `new` accepts it and `old` does not.
//!
//! `cargo run --release --manifest-path narrowing/comparison/Cargo.toml`

use std::panic::catch_unwind;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bailiwick_narrowing::{Budget, Schema, Verdict, contains};
use jsoncompat::{CompatibilityResult, Role, SchemaDocument, SchemaOptions, analyze_compat};
use jsonschema::canonical::{self, Containment};
use serde_json::Value;

/// How long a prover may think about one pair.
const LIMIT: Duration = Duration::from_secs(20);
/// A pair is run until it has run so often, or for [`ENOUGH`]; its time is the median of its runs.
const REPEATS: usize = 7;
const ENOUGH: Duration = Duration::from_millis(100);
/// Some provers recurse deeply, and an overflow would end the program.
const STACK: usize = 256 << 20;

enum Answer {
    Narrows,
    Widens(Option<Value>),
    Undecided,
    Refused(String),
}

type Prover = fn(&Value, &Value) -> Answer;

#[derive(Default)]
struct Tally {
    proved: usize,
    refuted: usize,
    witnessed: usize,
    wrong: usize,
    undecided: usize,
    refused: usize,
    times: Vec<(Duration, String)>,
    notes: Vec<String>,
}

fn main() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../../tests/data/narrowing.json"))
        .expect("the labelled pairs are JSON");
    // A panic is an answer here, and its text is in the notes.
    std::panic::set_hook(Box::new(|_| {}));
    let provers: [(&str, Prover); 3] = [
        ("bailiwick-narrowing", narrowing),
        ("`jsonschema::canonical` 0.61.2, `covers`", covers),
        ("`jsoncompat` 0.5.0, `analyze_compat`", compat),
    ];
    let tallies: Vec<(&str, Tally)> =
        provers.into_iter().map(|(name, prover)| (name, tally(&cases, prover))).collect();
    println!("{} pairs", cases.len());
    println!();
    println!(
        "| | proved | refuted | with a witness | wrong | undecided | refused | median µs | p99 µs | whole file ms |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, tally) in &tallies {
        let time = |percent: usize| micros(tally.times[(tally.times.len() - 1) * percent / 100].0);
        let whole: Duration = tally.times.iter().map(|(time, _)| *time).sum();
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {:.1} | {:.0} | {:.1} |",
            tally.proved,
            tally.refuted,
            tally.witnessed,
            tally.wrong,
            tally.undecided,
            tally.refused,
            time(50),
            time(99),
            micros(whole) / 1000.0,
        );
    }
    for (name, tally) in &tallies {
        println!();
        println!("{name}");
        println!();
        let slowest: Vec<String> = tally
            .times
            .iter()
            .rev()
            .take(4)
            .map(|(time, id)| format!("`{id}` {:.0} µs", micros(*time)))
            .collect();
        println!("* slowest: {}", slowest.join(", "));
        tally.notes.iter().for_each(|note| println!("* {note}"));
    }
}

fn tally(cases: &[Value], prover: Prover) -> Tally {
    let mut tally = Tally::default();
    for case in cases {
        let (old, new) = (&case["old"], &case["new"]);
        let id = case["id"].as_str().expect("a pair has an id");
        let narrows = case["truth"] == "narrows";
        let (answer, time) = timed(old, new, prover);
        tally.times.push((time, id.to_owned()));
        match answer {
            Answer::Narrows if narrows => tally.proved += 1,
            Answer::Narrows => {
                tally.wrong += 1;
                let witness = &case["witness"];
                let verified = if shows(old, new, witness) { "verified" } else { "NOT VERIFIED" };
                tally
                    .notes
                    .push(format!("wrong: `{id}` is said to narrow; `{witness}` escapes ({verified})"));
            }
            Answer::Widens(witness) => {
                let shown = witness.as_ref().is_some_and(|witness| shows(old, new, witness));
                if narrows {
                    tally.wrong += 1;
                    let witness = witness.unwrap_or_default();
                    let shown = if shown { "does" } else { "does not" };
                    tally.notes.push(format!("wrong: `{id}` is said to widen; `{witness}` {shown} escape"));
                } else {
                    tally.refuted += 1;
                    tally.witnessed += usize::from(shown);
                    if let Some(witness) = witness.filter(|_| !shown) {
                        tally.notes.push(format!("`{id}`: the witness `{witness}` does not escape"));
                    }
                }
            }
            Answer::Undecided => tally.undecided += 1,
            Answer::Refused(why) => {
                tally.refused += 1;
                let why: String = why.lines().next().unwrap_or_default().chars().take(160).collect();
                tally.notes.push(format!("refused: `{id}`: {why}"));
            }
        }
    }
    tally.times.sort_unstable();
    tally
}

fn timed(old: &Value, new: &Value, prover: Prover) -> (Answer, Duration) {
    let (old, new) = (old.clone(), new.clone());
    let (send, receive) = mpsc::channel();
    let work = move || {
        let begin = Instant::now();
        let mut runs = Vec::new();
        loop {
            let start = Instant::now();
            let answer = catch_unwind(|| prover(&old, &new)).unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                Answer::Refused(format!("panics: {}", text.unwrap_or("without a message")))
            });
            runs.push(start.elapsed());
            if runs.len() == REPEATS || begin.elapsed() > ENOUGH {
                runs.sort_unstable();
                // Whoever stopped listening has counted the pair as refused.
                let _ = send.send((answer, runs[runs.len() / 2]));
                return;
            }
        }
    };
    thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread can be started");
    receive
        .recv_timeout(LIMIT)
        .unwrap_or_else(|_| (Answer::Refused(format!("no answer within {} s", LIMIT.as_secs())), LIMIT))
}

fn narrowing(old: &Value, new: &Value) -> Answer {
    let (old, new) = match (Schema::compile(old), Schema::compile(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) | (_, Err(error)) => return Answer::Refused(error.to_string()),
    };
    match contains(&old, &new, &Budget::default()) {
        Verdict::Contained(_) => Answer::Narrows,
        Verdict::Escapes(witness) => Answer::Widens(Some(witness.instance().clone())),
        Verdict::Undecided(_) => Answer::Undecided,
    }
}

fn covers(old: &Value, new: &Value) -> Answer {
    let canonical = |value: &Value| canonical::options().should_validate_formats(true).canonicalize(value);
    let (old, new) = match (canonical(old), canonical(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) | (_, Err(error)) => return Answer::Refused(error.to_string()),
    };
    match old.covers(&new) {
        Ok(Containment::Yes) => Answer::Narrows,
        Ok(Containment::No) => Answer::Widens(None),
        Ok(Containment::Unknown) => Answer::Undecided,
        Err(error) => Answer::Refused(error.to_string()),
    }
}

/// Of its roles, the serializer's is containment: what the new schema lets out, the old one must take.
fn compat(old: &Value, new: &Value) -> Answer {
    let options = SchemaOptions { assert_formats: Some(true), ..SchemaOptions::default() };
    let document = |value: &Value| SchemaDocument::from_json_with_options(value, &options);
    let (old, new) = match (document(old), document(new)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(error), _) | (_, Err(error)) => return Answer::Refused(error.to_string()),
    };
    match analyze_compat(&old, &new, Role::Serializer) {
        Ok(CompatibilityResult::Compatible) => Answer::Narrows,
        Ok(CompatibilityResult::Incompatible { counterexample, .. }) => Answer::Widens(Some(counterexample)),
        Ok(CompatibilityResult::Unknown { .. }) => Answer::Undecided,
        Err(error) => Answer::Refused(error.to_string()),
    }
}

/// Whether `new` accepts the instance and `old` does not.
fn shows(old: &Value, new: &Value, instance: &Value) -> bool {
    let accepts = |schema: &Value| {
        jsonschema::options()
            .should_validate_formats(true)
            .build(schema)
            .is_ok_and(|validator| validator.is_valid(instance))
    };
    accepts(new) && !accepts(old)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
