//! Types made by chance, as files.

use crate::loader::{Schema, Types};
use phalanx_examples::chance::Chance;
use serde_json::{Map, Value, json};

/// The types of a file.
const TYPES_A_FILE: u32 = 100;

/// Types in a row, of which each may begin as the one before.
const FAMILY: u32 = 5;

/// Files with `count` types that begin as types of `known`, or as each other. The files are the
/// same for the same arguments.
pub(crate) fn files(known: &Types, count: u32) -> Vec<(String, String)> {
    let mut chance = Chance::new(1);
    let mut files = Vec::new();
    for first in (0..count).step_by(TYPES_A_FILE as usize) {
        let last = count.min(first + TYPES_A_FILE);
        let types = (first..last).map(|number| (name(number), one(known, number, &mut chance)));
        let text = format!("{:#}\n", Value::Object(types.collect()));
        files.push((format!("generated-{:03}.json", first / TYPES_A_FILE), text));
    }
    files
}

/// The name of a generated type.
pub(crate) fn name(number: u32) -> String {
    format!("generated-{number:05}")
}

fn one(known: &Types, number: u32, chance: &mut Chance) -> Value {
    let (schema, generation) = (known.schema(), number % FAMILY);
    let parent = match generation {
        0 => pick(known, chance),
        _ => name(number - 1 - chance.below(generation)),
    };
    let mut components = Map::new();
    if generation == 0 {
        for name in ["place", "health"] {
            components.insert(name.to_owned(), component(schema, name, chance));
        }
    }
    let more = schema.components()[chance.below(count(schema.components().len())) as usize].name;
    if more != "health" {
        components.insert(more.to_owned(), component(schema, more, chance));
    }
    let mut children = Map::new();
    if generation % 2 == 1 {
        let child = pick(known, chance);
        children.insert(format!("part-{generation}"), json!({ "type": child }));
    }
    json!({ "parent": parent, "components": components, "children": children })
}

/// The name of one of the known types.
fn pick(known: &Types, chance: &mut Chance) -> String {
    known.get(chance.below(count(known.len())) as usize).name.clone()
}

fn count(len: usize) -> u32 {
    u32::try_from(len).expect("few")
}

/// A value for each field of a component.
fn component(schema: &Schema, name: &str, chance: &mut Chance) -> Value {
    let component = schema.component(schema.find(name).expect("it is known"));
    if component.is_enum() {
        let variants = component.variants;
        return json!(variants[chance.below(count(variants.len())) as usize].name);
    }
    let value = |type_name: &str, chance: &mut Chance| match type_name {
        "bool" => json!(chance.below(2) == 1),
        _ => json!(chance.below(100)),
    };
    let fields = component.fields.iter();
    fields.map(|field| (field.name.to_owned(), value(field.type_name, chance))).collect()
}
