//! The two digests of a tool: what is enforced, and what a model reads. Each changes exactly with its own.

use bailiwick_snapshots::{Snapshot, Tool};
use bailiwick_tests::fleet::{File, Fleet};
use proptest::prelude::*;

use crate::bundle::{Scratch, outcome};
use crate::cases;

/// A change of a tool's document, and what it may change.
struct Change {
    from: &'static str,
    to: &'static str,
    contract: bool,
    definition: bool,
}

const CHANGES: [Change; 7] = [
    Change { from: " answers within ", to: " replies within ", contract: false, definition: true },
    Change {
        from: "          description: ",
        to: "          description: Also ",
        contract: false,
        definition: true,
    },
    Change {
        from: "\n      required: [status]",
        to: "\n      required: [status, id]",
        contract: true,
        definition: true,
    },
    Change { from: "\n      additionalProperties: false\n", to: "\n", contract: true, definition: true },
    Change {
        from: "  output_schema:",
        to: "  on_failure: return_to_agent\n  output_schema:",
        contract: true,
        definition: false,
    },
    Change {
        from: "  output_schema:",
        to: "  x-team: seven\n  output_schema:",
        contract: false,
        definition: false,
    },
    Change { from: "  owner: ", to: "  owner: new-", contract: false, definition: false },
];

fn tool<'s>(snapshot: &'s Snapshot, file: &File) -> &'s Tool {
    let name = file.path.trim_start_matches("tools/").trim_end_matches(".yaml");
    snapshot.tools.iter().find(|(key, _)| key.id.name().as_str() == name).unwrap().1
}

proptest! {
    #![proptest_config(cases(24))]

    #[test]
    fn contract_and_definition_change_with_their_own(
        seed in any::<u64>(),
        which in any::<prop::sample::Index>(),
        change in 0..CHANGES.len(),
    ) {
        let mut files = Fleet { bundles: 1, tools: 3, narrowed: 1, policies: 2, seed }.bundle(0);
        let before = outcome(&Scratch::with(&files).path, ".");
        let mut tools: Vec<&mut File> =
            files.iter_mut().filter(|file| file.path.starts_with("tools/")).collect();
        let at = which.index(tools.len());
        let Change { from, to, contract, definition } = &CHANGES[change];
        let changed = tools[at].text.replacen(from, to, 1);
        prop_assert_ne!(&changed, &tools[at].text);
        tools[at].text = changed;
        let names: Vec<File> = tools.iter().map(|file| File::clone(file)).collect();
        let after = outcome(&Scratch::with(&files).path, ".");
        prop_assert_ne!(before.digest(), after.digest());
        for (n, file) in names.iter().enumerate() {
            let (old, new) = (tool(before.snapshot(), file), tool(after.snapshot(), file));
            prop_assert_eq!(old.content_hash != new.content_hash, n == at);
            prop_assert_eq!(old.contract != new.contract, n == at && *contract, "{}", to);
            prop_assert_eq!(old.definition != new.definition, n == at && *definition, "{}", to);
        }
        let bindings = |snapshot: &Snapshot| {
            let agents = snapshot.agents.values();
            agents.flat_map(|agent| &agent.bindings).map(|binding| binding.contract).collect::<Vec<_>>()
        };
        prop_assert_eq!(bindings(before.snapshot()) != bindings(after.snapshot()), *contract);
    }
}
