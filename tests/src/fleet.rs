//! Fleets of bundles that look like what people write, in any number.
//!
//! INVARIANT: the same [`Fleet`] gives the same bytes everywhere: one generator of numbers, seeded, and no clock.
//! A bundle of 20 tools and 10 policies is about 60 KB. Every bundle compiles without an error.
//!
//! Not here: catalogs, delegation, faults. A fleet measures and varies the common case.

use std::fmt::Write as _;
use std::{fs, io};

use camino::{Utf8Path, Utf8PathBuf};

/// How many bundles there are and what is in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fleet {
    /// Bundles of one agent.
    pub bundles: usize,
    /// Tools that each agent is bound to.
    pub tools: usize,
    /// Of these, how many bindings have a schema of their own that narrows.
    pub narrowed: usize,
    /// Policies in each bundle.
    pub policies: usize,
    /// What tells fleets of one shape apart.
    pub seed: u64,
}

/// One file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path from the bundle's directory, with `/`.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Fleet {
    /// Writes the fleet below `directory` and gives the bundles' directories in order.
    ///
    /// # Errors
    /// What the file system says.
    pub fn write(&self, directory: &Utf8Path) -> io::Result<Vec<Utf8PathBuf>> {
        let mut folders = Vec::with_capacity(self.bundles);
        for at in 0..self.bundles {
            let folder = directory.join(format!("bundle-{at:04}"));
            for file in self.bundle(at) {
                let path = folder.join(&file.path);
                fs::create_dir_all(path.parent().unwrap_or(&folder))?;
                fs::write(&path, file.text)?;
            }
            folders.push(folder);
        }
        Ok(folders)
    }

    /// The files of the bundle number `at`, the agent first.
    pub fn bundle(&self, at: usize) -> Vec<File> {
        let mut numbers = Numbers::new(self.seed, at as u64);
        let namespace = format!("team-{at:04}");
        let tools: Vec<Tool> = (0..self.tools).map(|n| Tool::draw(&mut numbers, n)).collect();
        let mut files = vec![File { path: "agent.yaml".into(), text: String::new() }];
        files.push(File { path: "prompts/system.md".into(), text: prompt(&mut numbers, &tools) });
        for tool in &tools {
            let path = format!("tools/{}.yaml", tool.name);
            files.push(File { path, text: tool.document(&mut numbers, &namespace) });
        }
        let mut attached = Vec::new();
        for n in 0..self.policies {
            let Some(tool) = numbers.pick(&tools) else { break };
            let name = format!("{}-{n}", numbers.word(&["limit", "review", "guard", "hours", "region"]));
            let text = policy(&mut numbers, &namespace, &name, tool);
            files.push(File { path: format!("policies/{name}.yaml"), text });
            attached.push((name, tool.name.clone()));
        }
        let text = self.agent(&mut numbers, &namespace, &tools, &attached);
        if let Some(agent) = files.first_mut() {
            agent.text = text;
        }
        files
    }

    fn agent(
        &self,
        numbers: &mut Numbers,
        namespace: &str,
        tools: &[Tool],
        policies: &[(String, String)],
    ) -> String {
        let mut text = head("Agent", namespace, "assistant", numbers);
        text.push_str(
            "spec:\n  purpose: Answer what people ask about their orders and put right what went wrong.\n  \
             instructions:\n    ref: prompts/system\n  model:\n    provider: anthropic\n    \
             name: claude-sonnet-4-5\n    parameters:\n      temperature: 0.2\n      max_output_tokens: 1024\n",
        );
        if !tools.is_empty() {
            text.push_str("  tools:\n");
        }
        for (n, tool) in tools.iter().enumerate() {
            let name = &tool.name;
            // INVARIANT: writing to a `String` cannot fail.
            let _ = writeln!(text, "    - ref: {namespace}.{name}@^1\n      as: {}", name.replace('-', "_"));
            if numbers.below(3) == 0 {
                text.push_str("      description: Look before you call it, and say what you found.\n");
            }
            if n < self.narrowed {
                text.push_str(&tool.narrower());
            }
            let own: Vec<_> = policies.iter().filter(|(_, of)| of == name).skip(1).collect();
            if !own.is_empty() {
                text.push_str("      policies:\n");
            }
            for (policy, _) in own {
                let _ = writeln!(text, "        - {namespace}.{policy}");
            }
        }
        let mut seen = Vec::new();
        let shared = policies.iter().filter(|(_, of)| {
            let first = !seen.contains(of);
            seen.push(of.clone());
            first
        });
        let shared: Vec<_> = shared.collect();
        if !shared.is_empty() {
            text.push_str("  default_policies:\n");
        }
        for (policy, _) in shared {
            let _ = writeln!(text, "    - {namespace}.{policy}");
        }
        text.push_str(
            "  limits:\n    max_tokens_per_run: 60000\n    max_loop_iterations: 12\n    \
             max_wall_clock_seconds: 120\n    on_limit: halt\n\nsecrets:\n  anthropic:\n    \
             fromEnv: ANTHROPIC_API_KEY\n\noutput:\n  format: text\n",
        );
        text
    }
}

/// Numbers by `SplitMix64` (Steele, Lea and Flood, 2014).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64, stream: u64) -> Self {
        let mut numbers = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        numbers.next();
        numbers
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next().checked_rem(n).unwrap_or(0)
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let at = self.below(from.len() as u64);
        from.get(usize::try_from(at).unwrap_or(0))
    }

    fn word(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).copied().unwrap_or("")
    }
}

/// A property of a tool's input: its name, what it is for, and its schema.
struct Property {
    name: &'static str,
    description: &'static str,
    shape: Shape,
}

enum Shape {
    /// Between two numbers.
    Integer(u64, u64),
    Money,
    Words(&'static [&'static str]),
    Pattern(&'static str),
    /// At most so many characters.
    Prose(u64),
    When,
    Flag,
    /// At most so many of them, each by a pattern.
    List(u64, &'static str),
    Place,
}

const PROPERTIES: [Property; 22] = [
    property("limit", "How many at most.", Shape::Integer(1, 100)),
    property("page", "Which page of the answer, counting from one.", Shape::Integer(1, 10_000)),
    property("days", "How far to look ahead, counting today.", Shape::Integer(1, 31)),
    property("priority", "How soon it is due; 5 is at once.", Shape::Integer(1, 5)),
    property("quantity", "How many pieces are meant.", Shape::Integer(1, 500)),
    property("amount_minor", "How much, in the smallest unit of the currency.", Shape::Integer(1, 1_000_000)),
    property("discount", "A share of the price, from 0 to 1.", Shape::Money),
    property("currency", "The currency of the charge.", Shape::Words(&["EUR", "GBP", "USD", "JPY", "SEK"])),
    property("region", "Where it applies.", Shape::Words(&["eu-north", "eu-west", "us-east", "ap-south"])),
    property("channel", "How the customer is told.", Shape::Words(&["email", "sms", "letter", "none"])),
    property(
        "status",
        "Only those in this state.",
        Shape::Words(&["open", "held", "paid", "sent", "closed"]),
    ),
    property("reason", "Why, in one word.", Shape::Words(&["duplicate", "damaged", "late", "goodwill"])),
    property("customer_id", "The customer, such as cus_5Rk1b7Qd.", Shape::Pattern("^cus_[A-Za-z0-9]{8,32}$")),
    property("order_id", "The order, such as ord_81hd73kA.", Shape::Pattern("^ord_[A-Za-z0-9]{8,32}$")),
    property("charge_id", "The charge that is meant.", Shape::Pattern("^ch_[A-Za-z0-9]{8,32}$")),
    property("note", "For the ledger; the customer does not see it.", Shape::Prose(500)),
    property("subject", "What the message is about.", Shape::Prose(120)),
    property("query", "What to look for, in the customer's words.", Shape::Prose(200)),
    property("since", "Nothing before this moment.", Shape::When),
    property("dry_run", "Only say what would happen.", Shape::Flag),
    property("tags", "Marks for the report, in lower case.", Shape::List(8, "^[a-z][a-z0-9-]{0,31}$")),
    property("address", "Where it goes.", Shape::Place),
];

const fn property(name: &'static str, description: &'static str, shape: Shape) -> Property {
    Property { name, description, shape }
}

impl Property {
    fn schema(&self, text: &mut String) {
        let _ = writeln!(
            text,
            "        {}:\n          description: {}",
            self.name,
            self.description.replace(": ", ", ")
        );
        let line = |text: &mut String, line: &str| {
            let _ = writeln!(text, "          {line}");
        };
        match &self.shape {
            Shape::Integer(low, high) => {
                line(text, "type: integer");
                line(text, &format!("minimum: {low}"));
                line(text, &format!("maximum: {high}"));
            }
            Shape::Money => {
                line(text, "type: number");
                line(text, "minimum: 0");
                line(text, "maximum: 0.75");
            }
            Shape::Words(words) => {
                line(text, "type: string");
                line(text, &format!("enum: [{}]", words.join(", ")));
            }
            Shape::Pattern(pattern) => {
                line(text, "type: string");
                line(text, &format!("pattern: \"{pattern}\""));
            }
            Shape::Prose(most) => {
                line(text, "type: string");
                line(text, "minLength: 1");
                line(text, &format!("maxLength: {most}"));
            }
            Shape::When => {
                line(text, "type: string");
                line(text, "format: date-time");
            }
            Shape::Flag => {
                line(text, "type: boolean");
                line(text, "default: false");
            }
            Shape::List(most, pattern) => {
                line(text, "type: array");
                line(text, &format!("maxItems: {most}"));
                line(text, "items:");
                line(text, "  type: string");
                line(text, &format!("  pattern: \"{pattern}\""));
            }
            Shape::Place => {
                line(text, "type: object");
                line(text, "properties:");
                line(text, "  street: { type: string, maxLength: 120, description: Street and number. }");
                line(text, "  postcode: { type: string, pattern: \"^[0-9A-Z -]{3,10}$\" }");
                line(text, "  country: { type: string, pattern: \"^[A-Z]{2}$\" }");
                line(text, "required: [street, country]");
                line(text, "additionalProperties: false");
            }
        }
    }

    /// A schema within the property's, if there is a common one.
    fn narrower(&self) -> Option<String> {
        match &self.shape {
            Shape::Integer(low, high) => Some(format!("maximum: {}", low + (high - low) / 2)),
            Shape::Words(words) => words.split_last().map(|(_, rest)| format!("enum: [{}]", rest.join(", "))),
            Shape::Prose(most) => Some(format!("maxLength: {}", most / 2)),
            Shape::List(most, _) => Some(format!("maxItems: {}", most / 2)),
            Shape::Money => Some("maximum: 0.25".to_owned()),
            Shape::Pattern(_) | Shape::When | Shape::Flag | Shape::Place => None,
        }
    }

    /// A condition over it.
    fn condition(&self) -> String {
        let name = self.name;
        match &self.shape {
            Shape::Integer(_, high) => format!("{{ field: {name}, op: gt, value: {} }}", high / 2),
            Shape::Money => format!("{{ field: {name}, op: gte, value: 0.5 }}"),
            Shape::Words(words) => match words {
                [first, second, ..] => {
                    format!("{{ field: {name}, op: in, value: [{first}, {second}] }}")
                }
                [..] => format!("{{ field: {name}, op: exists, value: true }}"),
            },
            Shape::Pattern(_) => format!("{{ field: {name}, op: ends_with, value: \"00\" }}"),
            Shape::Prose(_) => format!("{{ field: {name}, op: contains, value: confidential }}"),
            Shape::When | Shape::List(..) => format!("{{ field: {name}, op: exists, value: true }}"),
            Shape::Flag => format!("{{ field: {name}, op: eq, value: false }}"),
            Shape::Place => format!("{{ field: {name}.country, op: neq, value: SE }}"),
        }
    }
}

struct Tool {
    name: String,
    properties: Vec<&'static Property>,
    class: &'static str,
}

const CLASSES: [&str; 4] = ["read_only", "idempotent_write", "non_idempotent_write", "irreversible_action"];
const VERBS: [&str; 8] = ["list", "get", "create", "update", "cancel", "send", "search", "approve"];
const NOUNS: [&str; 10] = [
    "orders",
    "refund",
    "parcel",
    "invoice",
    "customer",
    "voucher",
    "complaint",
    "article",
    "appointment",
    "report",
];

impl Tool {
    fn draw(numbers: &mut Numbers, n: usize) -> Self {
        let name = format!("{}-{}-{n}", numbers.word(&VERBS), numbers.word(&NOUNS));
        let first = numbers.below(PROPERTIES.len() as u64);
        // Coprime to the number of properties: no property twice.
        let step = [1, 3, 5, 7, 9, 13].get(usize::try_from(numbers.below(6)).unwrap_or(0)).map_or(1, |n| *n);
        let count = 8 + numbers.below(4);
        let at = |n: u64| usize::try_from((first + n * step) % PROPERTIES.len() as u64).unwrap_or(0);
        let properties = (0..count).filter_map(|n| PROPERTIES.get(at(n))).collect();
        Self { name, properties, class: numbers.word(&CLASSES) }
    }

    fn document(&self, numbers: &mut Numbers, namespace: &str) -> String {
        let mut text = head("Tool", namespace, &self.name, numbers);
        let _ = writeln!(
            text,
            "spec:\n  description: {} for the service desk. It answers within a second; what is not found is an \
             empty answer, not a fault.\n  side_effect_class: {}\n  input_schema:\n    inline:\n      type: object",
            self.name.replace('-', " "),
            self.class
        );
        text.push_str("      properties:\n");
        for property in &self.properties {
            property.schema(&mut text);
        }
        let required: Vec<&str> = self.properties.iter().take(2).map(|property| property.name).collect();
        let _ = writeln!(
            text,
            "      required: [{}]\n      additionalProperties: false\n  output_schema:\n    inline:\n      \
             type: object\n      properties:\n        id: {{ type: string }}\n        status: {{ type: string, enum: \
             [accepted, refused] }}\n        items:\n          type: array\n          items:\n            \
             type: object\n            properties:\n              id: {{ type: string }}\n              \
             total: {{ type: number, minimum: 0 }}\n            required: [id]\n      required: [status]",
            required.join(", ")
        );
        text
    }

    /// The binding's own schema.
    fn narrower(&self) -> String {
        let narrower: Vec<_> = self
            .properties
            .iter()
            .filter_map(|property| Some((property.name, property.narrower()?)))
            .take(2)
            .collect();
        let mut text = String::new();
        if !narrower.is_empty() {
            text.push_str("      input_schema:\n        inline:\n          properties:\n");
        }
        for (name, schema) in narrower {
            let _ = writeln!(text, "            {name}:\n              {schema}");
        }
        text
    }
}

fn policy(numbers: &mut Numbers, namespace: &str, name: &str, tool: &Tool) -> String {
    let mut text = head("Policy", namespace, name, numbers);
    let _ = writeln!(
        text,
        "spec:\n  description: What {} may do without asking, as agreed with the people who answer for it.\n  \
         scope: tool:{namespace}.{}\n  conditions:",
        tool.name, tool.name
    );
    let join = numbers.word(&["all", "any"]);
    let _ = writeln!(text, "    {join}:");
    for property in tool.properties.iter().skip(usize::try_from(numbers.below(4)).unwrap_or(0)).take(3) {
        let _ = writeln!(text, "      - {}", property.condition());
    }
    let decision = match numbers.below(4) {
        0 => "    type: deny\n    reason: It is not for an agent to decide.\n",
        1 => {
            "    type: escalate\n    reason: The duty manager knows.\n    timeout:\n      after_minutes: 60\n      \
              default: deny\n"
        }
        _ => {
            "    type: require_approval\n    approvals_required: 1\n    timeout:\n      after_minutes: 30\n      \
              default: deny\n    on_reject: return_to_agent\n    on_modify: revalidate\n    \
              reason: Somebody looks at it first.\n"
        }
    };
    text.push_str("  decision:\n");
    text.push_str(decision);
    text
}

fn prompt(numbers: &mut Numbers, tools: &[Tool]) -> String {
    let mut text = String::from(
        "You help people with their orders. Be short, be exact, and never promise what a tool has not confirmed.\n\n",
    );
    for tool in tools {
        let _ = writeln!(
            text,
            "- `{}`: {}",
            tool.name.replace('-', "_"),
            numbers.word(&[
                "use it once you know the order.",
                "ask before you use it.",
                "only if the customer asked for it.",
                "never for more than one order at a time.",
            ])
        );
    }
    text.push_str("\nIf two answers disagree, say so and stop.\n");
    text
}

fn head(kind: &str, namespace: &str, name: &str, numbers: &mut Numbers) -> String {
    let owner = numbers.word(&["service-desk", "ledger", "logistics", "platform"]);
    let tier = numbers.word(&["low", "medium", "high"]);
    let version = format!("1.{}.{}", numbers.below(9), numbers.below(20));
    format!(
        "apiVersion: phrony.com/v1\nkind: {kind}\n\nmetadata:\n  name: {name}\n  namespace: {namespace}\n  \
         version: {version}\n  owner: {owner}\n  labels:\n    cost-centre: \"{}\"\n  governance:\n    risk_tier: {tier}\n\n",
        1000 + numbers.below(9000)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_is_the_same_fleet_of_the_size_that_is_promised() {
        let fleet = Fleet { bundles: 2, tools: 20, narrowed: 10, policies: 10, seed: 7 };
        assert_eq!(fleet.bundle(1), fleet.bundle(1));
        assert_ne!(fleet.bundle(0), fleet.bundle(1));
        assert_ne!(fleet.bundle(0), Fleet { seed: 8, ..fleet }.bundle(0));
        let size: usize = fleet.bundle(0).iter().map(|file| file.text.len()).sum();
        assert!((55_000..=65_000).contains(&size), "{size}");
    }
}
