//! Types made by chance, as files.

use crate::loader::{Schema, Types, Visible};
use phalanx_examples::chance::Chance;
use serde_json::{Map, Value, json};

/// The types of a file.
const TYPES_A_FILE: u32 = 100;

/// Types in a row: each may begin as the one before.
const FAMILY: u32 = 5;

/// The most entities of a known type that others begin as: three of them are far from the limit.
const ENTITIES_MAX: usize = 100;

/// The beginning of the names of generated types.
const PREFIX: &str = "generated-";

/// Files with `count` types that begin as types of `known`, or as each other. The files are the
/// same for the same arguments. Their names are paths, so that no file of a folder has one.
///
/// # Errors
///
/// If there are some, and a known type is named like them.
pub(crate) fn files(known: &Types, count: u32) -> Result<Vec<(String, String)>, String> {
    let mut names = (0..known.len()).map(|number| &known.get(number).name);
    if let Some(name) = names.find(|name| count > 0 && name.starts_with(PREFIX)) {
        return Err(format!(
            "`{}` is named like the types that the program makes: rename it, or give `--types 0`",
            Visible(name)
        ));
    }
    let small = |&number: &usize| known.get(number).nodes.len() <= ENTITIES_MAX;
    let small: Vec<_> = (0..known.len()).filter(small).collect();
    let names: Vec<_> = small.into_iter().map(|number| &*known.get(number).name).collect();
    let mut chance = Chance::new(1);
    let mut files = Vec::new();
    for first in (0..count).step_by(TYPES_A_FILE as usize) {
        let last = count.min(first + TYPES_A_FILE);
        let types = (first..last)
            .map(|number| (name(number), one(known.schema(), &names, number, &mut chance)));
        let text = format!("{:#}\n", Value::Object(types.collect()));
        files.push((format!("generated/{:03}.json", first / TYPES_A_FILE), text));
    }
    Ok(files)
}

/// The name of a generated type.
pub(crate) fn name(number: u32) -> String {
    format!("{PREFIX}{number:05}")
}

/// A type that begins as one of `names`, or as one before it.
fn one(schema: &Schema, names: &[&str], number: u32, chance: &mut Chance) -> Value {
    let generation = number % FAMILY;
    let parent = match generation {
        0 => pick(names, chance).map(str::to_owned),
        _ => Some(name(number - 1 - chance.below(generation))),
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
        let child = pick(names, chance).map(|child| json!({ "type": child }));
        children.extend(child.map(|child| (format!("part-{generation}"), child)));
    }
    let mut all = json!({ "components": components, "children": children });
    if let Some(parent) = parent {
        all["parent"] = parent.into();
    }
    all
}

/// One of the names, if there are some.
fn pick<'n>(names: &[&'n str], chance: &mut Chance) -> Option<&'n str> {
    (!names.is_empty()).then(|| names[chance.below(count(names.len())) as usize])
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
