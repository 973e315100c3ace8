//! Reads the types of a file.

use super::fault::{At, Fault, list, nearest, short};
use super::part::{Name, Part, TypeText, Written};
use super::schema::Schema;
use super::source::Source;
use super::value;
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::collections::HashSet;

/// Plain JSON, without the extensions of the parser.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The types of a file: an object with a type for each name. Faults are added to the list.
/// `None` if the file is not JSON or cannot be read, so that no type of it is known.
pub(crate) fn read(
    schema: &Schema,
    file: &str,
    bytes: Result<&[u8], &str>,
    faults: &mut Vec<Fault>,
) -> Option<Vec<TypeText>> {
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => {
            let at = At { file: file.into(), line: 1, column: 1 };
            let text = format!("the file cannot be read: {error}: correct that, or remove it");
            faults.push(Fault { at, text });
            return None;
        }
    };
    // Some editors write a byte order mark.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let (text, rest) = match str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let valid = &bytes[..error.valid_up_to()];
            (str::from_utf8(valid).expect("it was checked"), Some(valid.len()))
        }
    };
    let mut reader = Reader { source: Source::new(file, text), schema, faults };
    if let Some(byte) = rest {
        reader.fault(byte, "this byte is not UTF-8: save the file as UTF-8".to_owned());
        return None;
    }
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => Some(reader.types(parsed.value.as_ref())),
        Err(error) => {
            let text = format!("this is not JSON: {}", lower(&error.kind().to_string()));
            reader.fault(error.range().start, text);
            None
        }
    }
}

fn lower(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

struct Reader<'a, 't> {
    source: Source<'t>,
    schema: &'a Schema,
    faults: &'a mut Vec<Fault>,
}

impl Reader<'_, '_> {
    fn fault(&mut self, byte: usize, text: String) {
        self.faults.push(Fault { at: self.source.at(byte), text });
    }

    fn types(&mut self, value: Option<&Value<'_>>) -> Vec<TypeText> {
        let Some(value) = value else {
            let end = self.source.text().len();
            self.fault(end, "the file is empty: write an object of types, `{}`".to_owned());
            return Vec::new();
        };
        let mut types = Vec::new();
        for property in self.properties(value, "a file", "types by their names") {
            let what = format!("`{}`", short(property.name.as_str()));
            let part = self.part(&property.value, &what, "parent");
            types.push(TypeText { name: self.name(property), part });
        }
        types
    }

    fn name(&self, property: &ObjectProp<'_>) -> Name {
        let at = self.source.at(property.name.start());
        Name { text: property.name.as_str().to_owned(), at }
    }

    /// The properties of an object: each name once. None if the value is no object.
    fn properties<'v, 't>(
        &mut self,
        value: &'v Value<'t>,
        owner: &str,
        wanted: &str,
    ) -> Vec<&'v ObjectProp<'t>> {
        let Value::Object(Object { properties, .. }) = value else {
            let text = format!("{owner} is {}: write an object of {wanted}", value::kind(value));
            self.fault(value.start(), text);
            return Vec::new();
        };
        let (mut names, mut once) = (HashSet::new(), Vec::new());
        for property in properties {
            let name = property.name.as_str();
            if names.insert(name) {
                once.push(property);
            } else {
                let text = format!("{owner} has `{name}` twice: remove or rename one");
                self.fault(property.name.start(), text);
            }
        }
        once
    }

    /// A type, or a child. `base` is the key of the type that it begins as.
    fn part(&mut self, value: &Value<'_>, owner: &str, base: &str) -> Part {
        let mut part = Part { base: None, components: Vec::new(), children: Vec::new() };
        let keys = [base, "components", "children"];
        for property in self.properties(value, owner, &list(keys.into_iter())) {
            let value = &property.value;
            match property.name.as_str() {
                "components" => part.components = self.components(value, owner),
                "children" => part.children = self.children(value, owner),
                key if key == base => part.base = self.base(value, key),
                other => {
                    let known = list(keys.into_iter());
                    let near = nearest(other, keys.into_iter());
                    let text = format!("{owner} has no `{other}`: write {known}{near}");
                    self.fault(property.name.start(), text);
                }
            }
        }
        part
    }

    fn base(&mut self, value: &Value<'_>, key: &str) -> Option<Name> {
        let Value::StringLit(text) = value else {
            let text = format!("`{key}` is {}: write the name of a type", value::kind(value));
            self.fault(value.start(), text);
            return None;
        };
        Some(Name { text: text.value.clone().into_owned(), at: self.source.at(value.start()) })
    }

    fn children(&mut self, value: &Value<'_>, owner: &str) -> Vec<(Name, Part)> {
        let owner = format!("`children` of {owner}");
        let mut children = Vec::new();
        for property in self.properties(value, &owner, "children by their names") {
            let name = self.name(property);
            if name.text.contains('/') || name.text.is_empty() {
                let text = format!("`{}` is a part of a path: use a name without `/`", name.text);
                self.fault(property.name.start(), text);
                continue;
            }
            let part = self.part(&property.value, &format!("`{}`", short(&name.text)), "type");
            children.push((name, part));
        }
        children
    }

    fn components(&mut self, value: &Value<'_>, owner: &str) -> Vec<Written> {
        let (schema, mut components) = (self.schema, Vec::new());
        let owner = format!("`components` of {owner}");
        for property in self.properties(value, &owner, "components by their names") {
            let name = property.name.as_str();
            let Some(component) = schema.find(name) else {
                let known = || schema.components().iter().map(|component| component.name);
                let (all, near) = (list(known()), nearest(name, known()));
                let text = format!("no component is named `{name}`: write one of {all}{near}");
                self.fault(property.name.start(), text);
                continue;
            };
            let at = self.source.at(property.name.start());
            let fields = self.fields(component, &property.value);
            components.push(Written { component, at, fields });
        }
        components
    }

    fn fields(&mut self, component: usize, value: &Value<'_>) -> Vec<(usize, Vec<u8>)> {
        let component = self.schema.component(component);
        if component.is_enum() {
            let bytes = value::variant(component, value);
            return vec![self.checked((0, component.size), value, bytes)];
        }
        let (name, mut fields) = (format!("`{}`", component.name), Vec::new());
        let before = self.faults.len();
        for property in self.properties(value, &name, "fields by their names") {
            let key = property.name.as_str();
            let Some(at) = component.fields.iter().position(|field| field.name == key) else {
                let known = || component.fields.iter().map(|field| field.name);
                let (all, near) = (list(known()), nearest(key, known()));
                let advice =
                    if all.is_empty() { "write `{}`".into() } else { format!("write {all}") };
                let text = format!("{name} has no field `{key}`: {advice}{near}");
                self.fault(property.name.start(), text);
                continue;
            };
            let field = &component.fields[at];
            let bytes = value::field(field, &property.value);
            fields.push(self.checked((at, field.size), &property.value, bytes));
        }
        if self.faults.len() > before {
            // A field that is missing may be one with a fault, which is enough to correct.
            let zeros = component.fields.iter().map(|field| vec![0; field.size]);
            fields = zeros.enumerate().collect();
        }
        fields
    }

    /// The value of a field. After a fault it is zero: the field is there, and no type is made.
    fn checked(
        &mut self,
        (number, size): (usize, usize),
        value: &Value<'_>,
        bytes: Result<Vec<u8>, String>,
    ) -> (usize, Vec<u8>) {
        let zero = |text| {
            self.fault(value.start(), text);
            vec![0; size]
        };
        (number, bytes.unwrap_or_else(zero))
    }
}
