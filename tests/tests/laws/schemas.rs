//! Schemas by their instances: what is enforced is what both schemas accept, no more and no less.

use bailiwick_narrowing::{Budget, Schema, Verdict, contains, contract_form, effective, flatten};
use bailiwick_tests::fleet::File;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use crate::bundle::{Scratch, file, outcome};
use crate::cases;

/// The names that objects here have; few, so that schemas speak of the same ones.
const NAMES: [&str; 4] = ["a", "b", "c", "title"];

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![(-3_i64..9).prop_map(Value::from), select(vec![json!(0.5), json!(2.0), json!(-1.5)])]
}

fn text() -> impl Strategy<Value = Value> {
    select(vec!["", "x", "xy", "xyz", "7", "a-7", "EUR", "USD"]).prop_map(Value::from)
}

fn instance() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![number(), text(), any::<bool>().prop_map(Value::from), Just(Value::Null)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let object = prop::collection::btree_map(select(NAMES.to_vec()), inner.clone(), 0..4)
            .prop_map(|members| members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect());
        prop_oneof![
            3 => object.prop_map(Value::Object),
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::Array),
        ]
    })
}

/// An object, as the arguments of a call are.
fn arguments() -> impl Strategy<Value = Value> {
    prop::collection::btree_map(select(NAMES.to_vec()), instance(), 0..4).prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

/// Keywords, each there or not.
fn keywords(all: Vec<(&'static str, BoxedStrategy<Value>)>, most: usize) -> BoxedStrategy<Value> {
    let n = all.len();
    (
        subsequence((0..n).collect::<Vec<_>>(), 0..=most.min(n)),
        all.into_iter().map(|(name, value)| (Just(name), value)).collect::<Vec<_>>(),
    )
        .prop_map(|(kept, all)| {
            let kept = all.into_iter().enumerate().filter(|(at, _)| kept.contains(at));
            Value::Object(kept.map(|(_, (name, value))| (name.to_owned(), value)).collect())
        })
        .boxed()
}

fn with(schema: &Value, more: &[(&str, Value)]) -> Value {
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.extend(more.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    Value::Object(object)
}

/// A schema without others in it; with `references`, it may stand for one of the `$defs` of [`schema`].
fn leaf(references: bool) -> BoxedStrategy<Value> {
    let integer = keywords(
        vec![
            ("minimum", (-2_i64..4).prop_map(Value::from).boxed()),
            ("maximum", (0_i64..8).prop_map(Value::from).boxed()),
            ("exclusiveMaximum", (1_i64..8).prop_map(Value::from).boxed()),
            ("multipleOf", select(vec![json!(2), json!(3), json!(0.5)]).boxed()),
            ("description", Just(json!("A number.")).boxed()),
        ],
        3,
    );
    let string = keywords(
        vec![
            ("minLength", (0_u64..3).prop_map(Value::from).boxed()),
            ("maxLength", (0_u64..4).prop_map(Value::from).boxed()),
            ("pattern", select(vec!["^x", "y", "^[A-Z]{3}$", "7$"]).prop_map(Value::from).boxed()),
            ("default", Just(json!("x")).boxed()),
        ],
        3,
    );
    let members = prop::collection::vec(prop_oneof![number(), text(), Just(Value::Null)], 1..4);
    let mut leaves = vec![
        (4, integer.prop_map(|schema| with(&schema, &[("type", json!("integer"))])).boxed()),
        (4, string.prop_map(|schema| with(&schema, &[("type", json!("string"))])).boxed()),
        (
            2,
            members
                .prop_map(|members| {
                    let mut unique: Vec<Value> = Vec::new();
                    for member in members {
                        if !unique.contains(&member) {
                            unique.push(member);
                        }
                    }
                    json!({ "enum": unique })
                })
                .boxed(),
        ),
        (
            1,
            select(vec![
                json!(true),
                json!(false),
                json!({}),
                json!({ "const": "x" }),
                json!({ "type": ["string", "null"] }),
                json!({ "type": "number" }),
            ])
            .boxed(),
        ),
    ];
    if references {
        leaves.push((
            2,
            select(vec![
                json!({ "$ref": "#/$defs/x" }),
                json!({ "$ref": "#/$defs/y", "description": "See y." }),
            ])
            .boxed(),
        ));
    }
    prop::strategy::Union::new_weighted(leaves).boxed()
}

fn object(inner: &BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let properties = prop::collection::btree_map(select(NAMES.to_vec()), inner.clone(), 0..4);
    let properties = properties
        .prop_map(|all| {
            Value::Object(all.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect())
        })
        .boxed();
    let closed = prop_oneof![3 => Just(json!(false)), 1 => inner.clone()].boxed();
    keywords(
        vec![
            ("properties", properties),
            ("required", subsequence(NAMES.to_vec(), 0..3).prop_map(|names| json!(names)).boxed()),
            ("additionalProperties", closed.clone()),
            ("patternProperties", inner.clone().prop_map(|schema| json!({ "^[ab]": schema })).boxed()),
            ("propertyNames", Just(json!({ "maxLength": 3 })).boxed()),
            ("maxProperties", (1_u64..4).prop_map(Value::from).boxed()),
            ("dependentRequired", Just(json!({ "a": ["b"] })).boxed()),
            ("unevaluatedProperties", closed),
            ("title", Just(json!("An object")).boxed()),
        ],
        5,
    )
    .prop_map(|schema| with(&schema, &[("type", json!("object"))]))
    .boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let inner = leaf(true).prop_recursive(3, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        let array = keywords(
            vec![
                ("items", inner.clone().boxed()),
                ("prefixItems", list.clone().prop_map(Value::from).boxed()),
                ("maxItems", (0_u64..4).prop_map(Value::from).boxed()),
                ("uniqueItems", Just(json!(true)).boxed()),
                ("contains", inner.clone().boxed()),
            ],
            3,
        );
        prop_oneof![
            4 => object(&inner.clone().boxed()),
            1 => array.prop_map(|schema| with(&schema, &[("type", json!("array"))])),
            1 => list.clone().prop_map(|list| json!({ "anyOf": list })),
            1 => list.clone().prop_map(|list| json!({ "oneOf": list })),
            1 => list.prop_map(|list| json!({ "allOf": list })),
            1 => inner.clone().prop_map(|schema| json!({ "not": schema })),
            1 => (inner.clone(), inner).prop_map(|(a, b)| json!({ "if": a, "then": b })),
        ]
    });
    let definitions = (leaf(false), leaf(false));
    (object(&inner.boxed()), definitions)
        .prop_map(|(schema, (x, y))| with(&schema, &[("$defs", json!({ "x": x, "y": y }))]))
}

/// Instances near what the schemas speak of.
fn instances() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(prop_oneof![6 => arguments(), 1 => instance()], 40)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn effective_is_both(tool in schema(), binding in schema(), instances in instances()) {
        let (outer, inner) = (Schema::compile(&tool).unwrap(), Schema::compile(&binding).unwrap());
        let both = effective(&tool, &binding);
        let enforced = Schema::compile(&both).unwrap();
        let flat = flatten(&both);
        let flat = (Schema::compile(&flat).unwrap(), flat);
        for instance in &instances {
            let expected = outer.accepts(instance) && inner.accepts(instance);
            prop_assert_eq!(enforced.accepts(instance), expected, "{} by {}", instance, both);
            prop_assert_eq!(flat.0.accepts(instance), expected, "{} by {}", instance, flat.1);
        }
    }

    #[test]
    fn annotations_do_not_decide(schema in schema(), instances in instances()) {
        let form = contract_form(&schema);
        let (whole, bare) = (Schema::compile(&schema).unwrap(), Schema::compile(&form).unwrap());
        for instance in &instances {
            prop_assert_eq!(whole.accepts(instance), bare.accepts(instance), "{} by {}", instance, form);
        }
    }

    #[test]
    fn what_is_proven_is_so(tool in schema(), binding in schema(), instances in instances()) {
        let (outer, inner) = (Schema::compile(&tool).unwrap(), Schema::compile(&binding).unwrap());
        let enforced = Schema::compile(&effective(&tool, &binding)).unwrap();
        for (outer, inner) in [(&outer, &inner), (&outer, &enforced), (&inner, &enforced)] {
            match contains(outer, inner, &Budget::default()) {
                Verdict::Contained(_) => {
                    for instance in instances.iter().filter(|instance| inner.accepts(instance)) {
                        prop_assert!(outer.accepts(instance), "{}", instance);
                    }
                }
                Verdict::Escapes(witness) => {
                    prop_assert!(inner.accepts(witness.instance()) && !outer.accepts(witness.instance()));
                }
                Verdict::Undecided(_) => {}
            }
        }
    }
}

fn tool_and_agent(tool: &Value, binding: Option<&Value>) -> Vec<File> {
    let own = binding.map_or_else(String::new, |own| format!(", \"input_schema\": {{\"inline\": {own}}}"));
    vec![
        file(
            "tools/pay.yaml",
            format!(
                "apiVersion: phrony.com/v1\nkind: Tool\nmetadata: {{ name: pay, namespace: shop, version: 1.0.0 }}\nspec:\n  \
                 side_effect_class: read_only\n  input_schema:\n    inline: {tool}\n"
            ),
        ),
        file(
            "agent.yaml",
            format!(
                "apiVersion: phrony.com/v1\nkind: Agent\nmetadata: {{ name: clerk, namespace: shop, version: 1.0.0 }}\nspec:\n  \
                 purpose: Pay.\n  instructions: {{ text: Pay. }}\n  tools:\n    - {{\"ref\": shop.pay, \"as\": pay{own}}}\n"
            ),
        ),
    ]
}

proptest! {
    #![proptest_config(cases(60))]

    /// Whatever a binding says: what is published accepts only what contract and binding both accept.
    #[test]
    fn nothing_is_published_that_widens(
        tool in schema(),
        binding in prop::option::weighted(0.8, schema()),
        repeats in any::<bool>(),
        instances in instances(),
    ) {
        let binding = binding.map(|binding| if repeats { tool.clone() } else { binding });
        let there = Scratch::with(&tool_and_agent(&tool, binding.as_ref()));
        let outcome = outcome(&there.path, ".");
        let Some((snapshot, ..)) = &outcome.compiled else {
            prop_assert!(!(repeats || binding.is_none()), "{:?}", outcome.said);
            return Ok(());
        };
        let enforced = &snapshot.agents.values().next().unwrap().bindings[0].input_schema;
        let (contract, own) = (Schema::compile(&tool).unwrap(), Schema::compile(binding.as_ref().unwrap_or(&json!(true))).unwrap());
        let compiled = Schema::compile(enforced).unwrap();
        for instance in &instances {
            let expected = contract.accepts(instance) && own.accepts(instance);
            prop_assert_eq!(compiled.accepts(instance), expected, "{} by {}", instance, enforced);
        }
    }
}

/// A contract of plain limits, and a binding that lowers some of them.
fn limits() -> impl Strategy<Value = (Value, Value, Value)> {
    let limit = (1_u64..50, 0_u64..50, prop::option::of(0_u64..80));
    prop::collection::btree_map(select(NAMES.to_vec()), limit, 1..4).prop_map(|limits| {
        let mut contract = Map::new();
        let mut binding = Map::new();
        let mut probe = Map::new();
        for (name, (low, span, own)) in limits {
            contract.insert(name.into(), json!({ "type": "integer", "minimum": low, "maximum": low + span }));
            if let Some(own) = own {
                binding.insert(name.into(), json!({ "maximum": own }));
                probe.insert(name.into(), json!(own));
            }
        }
        let required: Vec<String> = contract.keys().cloned().collect();
        let contract = json!({
            "type": "object", "properties": contract, "required": required, "additionalProperties": false
        });
        (contract, json!({ "properties": binding }), Value::Object(probe))
    })
}

proptest! {
    #![proptest_config(cases(40))]

    /// Plain limits are always decided: a lower one narrows, a higher one is refused.
    #[test]
    fn plain_limits_are_decided((contract, binding, probe) in limits()) {
        let there = Scratch::with(&tool_and_agent(&contract, Some(&binding)));
        let outcome = outcome(&there.path, ".");
        let of = |name: &str, limit: &str| contract["properties"][name][limit].as_u64().unwrap();
        let widens = probe.as_object().unwrap().iter().any(|(name, own)| own.as_u64().unwrap() > of(name, "maximum"));
        // A limit below all that the contract takes leaves nothing, and nothing cannot be too much.
        let empty = probe.as_object().unwrap().iter().any(|(name, own)| own.as_u64().unwrap() < of(name, "minimum"));
        let codes: Vec<_> = outcome.said.iter().map(|(_, code, _)| *code).collect();
        prop_assert!(!codes.contains(&"narrow::undecided"), "{:?}", outcome.said);
        if !empty {
            prop_assert_eq!(codes.contains(&"narrow::widened"), widens, "{:?}", outcome.said);
        }
    }
}
