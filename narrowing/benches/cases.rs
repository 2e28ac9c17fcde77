//! The labelled pairs as a table: what was decided, what was not, and how long each pair took.
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
use serde_json::Value;

const REPEATS: usize = 7;

fn main() {
    let cases: Vec<Value> = serde_json::from_str(include_str!("../tests/data/narrowing.json")).unwrap();
    let budget = Budget::default();
    let mut tally = [0_usize; 4];
    let mut times: Vec<(Duration, &str)> = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let mut runs: Vec<Duration> = Vec::new();
        let mut verdict = None;
        for _ in 0..REPEATS {
            let start = Instant::now();
            let outer = Schema::compile(&case["old"]).unwrap();
            let inner = Schema::compile(&case["new"]).unwrap();
            verdict = Some(contains(&outer, &inner, &budget));
            runs.push(start.elapsed());
        }
        runs.sort_unstable();
        times.push((runs[REPEATS / 2], id));
        let narrows = case["truth"] == "narrows";
        let kind = match verdict.unwrap() {
            Verdict::Contained(_) if narrows => 0,
            Verdict::Escapes(_) if !narrows => 1,
            Verdict::Undecided(reason) => {
                println!("undecided {id}: {}", reason.message);
                2
            }
            verdict @ (Verdict::Contained(_) | Verdict::Escapes(_)) => {
                println!("WRONG {id}: {verdict:?}");
                3
            }
        };
        tally[kind] += 1;
    }
    times.sort_unstable();
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].0;
    println!(
        "pairs {} | proved {} | refuted {} | undecided {} | WRONG {}",
        cases.len(),
        tally[0],
        tally[1],
        tally[2],
        tally[3]
    );
    println!("median {:?} | p90 {:?} | p99 {:?} | total {total:?}", at(50), at(90), at(99));
    for (time, id) in times.iter().rev().take(6) {
        println!("slowest {id}: {time:?}");
    }
    // Linux only: elsewhere the line is left out.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if let Some(peak) = status.lines().find(|line| line.starts_with("VmHWM")) {
        println!("peak memory {}", peak.trim_start_matches("VmHWM:").trim());
    }
}
