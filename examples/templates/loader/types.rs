//! All types of a program.

use super::fault::Fault;
use super::links;
use super::part::{Name, TypeText};
use super::read::read;
use super::schema::Schema;
use super::tree::{Maker, Node, Tree};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The texts of files by their names. `None` for a file that is not JSON.
type Files = BTreeMap<String, Option<Vec<TypeText>>>;

/// All types of a program, without faults. A type has the same number as long as they live.
#[derive(Debug)]
pub(crate) struct Types {
    schema: Schema,
    files: Files,
    types: Vec<Type>,
    numbers: HashMap<String, usize>,
}

/// A type: its entities, level after level.
#[derive(Debug)]
pub(crate) struct Type {
    pub(crate) name: String,
    pub(crate) nodes: Vec<Node>,
}

/// A type that a reload has changed.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) number: usize,
    /// Its entities before.
    pub(crate) old: Vec<Node>,
}

impl Types {
    /// Loads all types of files, each with its name and its bytes, or why it cannot be read.
    ///
    /// # Errors
    ///
    /// All faults, in the order of files and lines.
    pub(crate) fn load<'f>(
        schema: Schema,
        files: impl IntoIterator<Item = (&'f str, Result<&'f [u8], &'f str>)>,
    ) -> Result<Self, Vec<Fault>> {
        let (mut texts, mut faults) = (Files::new(), Vec::new());
        for (name, bytes) in files {
            texts.insert(name.to_owned(), read(&schema, name, bytes, &mut faults));
        }
        let types = make(&schema, &texts, faults)?;
        let mut loaded = Self { schema, files: texts, types: Vec::new(), numbers: HashMap::new() };
        loaded.take(types);
        Ok(loaded)
    }

    /// Loads files again that have changed, or were added: all at once, because a type may have
    /// gone from one to another. Returns the types with other values or children than before: of
    /// these files, and of all files with types that begin as one of them.
    ///
    /// # Errors
    ///
    /// All faults. The types are the same as before.
    pub(crate) fn reload<'f>(
        &mut self,
        files: impl IntoIterator<Item = (&'f str, Result<&'f [u8], &'f str>)>,
    ) -> Result<Vec<Change>, Vec<Fault>> {
        let (mut before, mut faults) = (Vec::new(), Vec::new());
        for (file, bytes) in files {
            let text = read(&self.schema, file, bytes, &mut faults);
            before.push((file, self.files.insert(file.to_owned(), text)));
        }
        let made = make(&self.schema, &self.files, faults);
        match made.and_then(|made| self.with_all(made, &before)) {
            Ok(types) => Ok(self.take(types)),
            Err(faults) => {
                for (file, text) in before.into_iter().rev() {
                    match text {
                        Some(text) => self.files.insert(file.to_owned(), text),
                        None => self.files.remove(file),
                    };
                }
                Err(faults)
            }
        }
    }

    /// Passes types on if all that were there before are among them.
    fn with_all(
        &self,
        made: Vec<Type>,
        before: &[(&str, Option<Option<Vec<TypeText>>>)],
    ) -> Result<Vec<Type>, Vec<Fault>> {
        let names: HashSet<_> = made.iter().map(|one| &*one.name).collect();
        let texts = before.iter().filter_map(|(_, text)| text.as_ref()).flatten().flatten();
        let gone = texts.map(|text| &text.name).filter(|name| !names.contains(&*name.text));
        let fault = |name: &Name| Fault {
            at: name.at.clone(),
            text: format!(
                "`{}` is gone, and objects of it may be there: put it back, or start again",
                name.text
            ),
        };
        let faults: Vec<_> = gone.map(fault).collect();
        if faults.is_empty() { Ok(made) } else { Err(faults) }
    }

    fn take(&mut self, types: Vec<Type>) -> Vec<Change> {
        let mut changes = Vec::new();
        for one in types {
            if let Some(&number) = self.numbers.get(&one.name) {
                if self.types[number].nodes != one.nodes {
                    let old = std::mem::replace(&mut self.types[number].nodes, one.nodes);
                    changes.push(Change { number, old });
                }
            } else {
                self.numbers.insert(one.name.clone(), self.types.len());
                self.types.push(one);
            }
        }
        changes
    }

    pub(crate) const fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn len(&self) -> usize {
        self.types.len()
    }

    pub(crate) fn get(&self, number: usize) -> &Type {
        &self.types[number]
    }
}

/// Makes all types of the files.
///
/// # Errors
///
/// The faults, with the ones from before.
fn make(schema: &Schema, files: &Files, mut faults: Vec<Fault>) -> Result<Vec<Type>, Vec<Fault>> {
    let mut texts: Vec<&TypeText> = Vec::new();
    let mut numbers = HashMap::new();
    for text in files.values().flatten().flatten() {
        let name = &text.name;
        if let Some(&first) = numbers.get(&*name.text) {
            let other: &TypeText = texts[first];
            let text = format!("`{}` is also at {}: rename one", name.text, other.name.at);
            faults.push(Fault { at: name.at.clone(), text });
        } else {
            numbers.insert(&*name.text, texts.len());
            texts.push(text);
        }
    }
    let all_read = files.values().all(Option::is_some);
    let order = links::order(&texts, &numbers, all_read, &mut faults);
    let mut trees: HashMap<&str, Tree> = HashMap::new();
    for number in order {
        let text = texts[number];
        let tree = Maker::new(schema, &trees, &mut faults).tree(&text.name.at, &text.part);
        trees.insert(&text.name.text, tree);
    }
    if !faults.is_empty() {
        faults.sort();
        return Err(faults);
    }
    let types = texts.iter().map(|text| {
        let name = text.name.text.clone();
        Type { nodes: trees[&*name].nodes(), name }
    });
    Ok(types.collect())
}
