//! Black-box cases: what a user types, and every byte that is answered.
//!
//! A case is a directory `tests/cases/STAGE/FAULT/NAME/`, or `tests/cases/commands/NAME/` for what is no fault:
//! `in/` is the input, `cmd` the lines that are run in a copy of it, `stdout` and `stderr` what they print.
//! `UPDATE=1 cargo test -p bailiwick-tests --test cases` rewrites the last two; the difference is reviewed like code.
//! [`script`] says what a line of `cmd` can be, [`laws`] what holds for every one of them.
//!
//! Not here: wall-clock, colour, and the process around the command line.

#[cfg(test)]
mod laws;
#[cfg(test)]
mod run;
#[cfg(test)]
mod script;
#[cfg(test)]
mod tree;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bailiwick_bundles::code;

use run::{Case, Outcome, all_cases};

#[test]
fn every_case_prints_what_it_should() {
    let cases = all_cases();
    assert!(!cases.is_empty(), "there are no cases");
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let n_threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..n_threads {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = match case.run() {
                        Ok(Outcome::Ran(found)) => found,
                        Ok(Outcome::LeftOut) => continue,
                        Err(reason) => vec![reason],
                    };
                    let mut failures = failures.lock().unwrap();
                    failures.extend(found.into_iter().map(|reason| format!("{}: {reason}", case.name)));
                }
            });
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(
        failures.is_empty(),
        "{} of {} cases:\n\n{}\n\nUPDATE=1 accepts what was printed",
        failures.len(),
        cases.len(),
        failures.join("\n\n")
    );
}

#[test]
fn every_code_has_a_page_and_a_case_that_shows_it() {
    let cases = all_cases();
    for code in code::ALL {
        let said = code.page.lines().skip(1).filter(|line| !line.trim().is_empty()).count();
        assert!(said >= 3, "the page of {} is only a heading", code.id);
        let own = |case: &&Case| case.fault().as_deref() == Some(code.id);
        assert!(cases.iter().any(|case| own(&case)), "no case shows {}", code.id);
    }
}

#[test]
fn every_case_of_a_fault_shows_that_fault() {
    let known: BTreeSet<&str> = code::ALL.iter().map(|code| code.id).collect();
    for case in all_cases() {
        let Some(fault) = case.fault() else { continue };
        assert!(known.contains(fault.as_str()), "{}: no code is called {fault}", case.name);
        assert!(case.expected_text().contains(&fault), "{} does not show {fault}", case.name);
    }
}
