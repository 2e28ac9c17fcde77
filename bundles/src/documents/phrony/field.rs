//! What a comparison looks at: an argument of the call by its path, or how the call was dispatched.

use std::fmt;
use std::str::FromStr;

/// What a comparison looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// How the call was dispatched: `dispatch.outcome` or `phrony.dispatch.trigger`, two names of one thing.
    Dispatch,
    /// An argument.
    Argument(FieldPath),
}

/// The way to a value in the arguments of a call: names joined by dots, and `[*]` for the elements of a list, as in
/// `items[*].price`. It begins with a name. A name that holds a dot or a bracket cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldPath {
    steps: Vec<Step>,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The member of an object.
    Name(String),
    /// Some element of a list.
    Each,
}

/// Why a text is no field, as the rest of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldError(&'static str);

impl Field {
    /// The fields that are about the dispatch of a call, not about its arguments.
    pub const DISPATCH: [&'static str; 2] = ["dispatch.outcome", "phrony.dispatch.trigger"];
}

impl FieldPath {
    /// The steps, at least one.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl FromStr for Field {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        if Self::DISPATCH.contains(&text) {
            return Ok(Self::Dispatch);
        }
        text.parse().map(Self::Argument)
    }
}

impl FromStr for FieldPath {
    type Err = FieldError;

    fn from_str(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() {
            return Err(FieldError("empty"));
        }
        let mut steps = Vec::new();
        for step in text.split('.') {
            let mut name = step;
            let mut n_each = 0;
            while let Some(rest) = name.strip_suffix("[*]") {
                name = rest;
                n_each += 1;
            }
            if name.is_empty() {
                return Err(FieldError("an empty step"));
            }
            if name.contains(['[', ']']) {
                return Err(FieldError("only `[*]` is known between brackets"));
            }
            steps.push(Step::Name(name.to_owned()));
            steps.extend(std::iter::repeat_n(Step::Each, n_each));
        }
        Ok(Self { steps })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            match step {
                Step::Name(name) if at == 0 => f.write_str(name)?,
                Step::Name(name) => write!(f, ".{name}")?,
                Step::Each => f.write_str("[*]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for FieldError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_names_and_elements() {
        for text in ["a", "a.b", "a[*]", "a[*][*].b", "dispatch.time", "prix €"] {
            let Ok(Field::Argument(path)) = text.parse() else { panic!("{text}") };
            assert_eq!(path.to_string(), text);
        }
        for text in ["", ".", "a.", ".a", "[*]", "a.[*]", "a[0]", "a[*]b", "a]"] {
            assert!(text.parse::<Field>().is_err(), "{text}");
        }
        for text in Field::DISPATCH {
            assert_eq!(text.parse(), Ok(Field::Dispatch));
        }
    }
}
