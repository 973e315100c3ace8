//! Scenes, from JSON to values and back: a list of objects with a value for each component.

use crate::values::{self, ValueOf};
use phalanx::reflect::ComponentInfo;
use phalanx::{Entity, World};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Value};
use std::fmt;

/// The components of an entity, by their names, as bytes.
pub(crate) type Components = Vec<(&'static str, Vec<u8>)>;

/// Reads the entities of a scene. The world must know their components.
///
/// # Errors
///
/// The first fault, with its line and column: for example unknown, missing and doubled names, and
/// values that are invalid for their type.
pub(crate) fn read(world: &World, text: &[u8]) -> Result<Vec<Components>, Error> {
    // Some editors write a byte order mark.
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    whole(text, Scene(world))
}

/// Reads the value of one component.
pub(crate) fn read_value(info: &ComponentInfo, text: &str) -> Result<Vec<u8>, Error> {
    whole(text.as_bytes(), ValueOf(info))
}

/// Reads all of a text as one value.
fn whole<'de, S: DeserializeSeed<'de>>(text: &'de [u8], seed: S) -> Result<S::Value, Error> {
    let mut json = serde_json::Deserializer::from_slice(text);
    let value = seed.deserialize(&mut json)?;
    json.end()?;
    Ok(value)
}

/// Writes entities as a scene, which reads back as the same entities.
///
/// # Errors
///
/// If JSON does not have a value, such as a number that is not finite.
pub(crate) fn write(world: &World, entities: &[Entity]) -> Result<String, String> {
    let mut scene = Vec::new();
    for (number, &entity) in entities.iter().enumerate() {
        let view = world.entity(entity).map_err(|error| error.to_string())?;
        let value = |info: &ComponentInfo, bytes| {
            let value = values::from_bytes(info, bytes);
            let value = value.map_err(|error| format!("entity {number}: {error}"))?;
            Ok((info.name().to_owned(), value))
        };
        let components = view.components().map(|one| value(one.info(), one.bytes()));
        scene.push(Value::Object(components.collect::<Result<_, String>>()?));
    }
    Ok(format!("{:#}\n", Value::Array(scene)))
}

/// The component with this name, or an error that lists the known ones.
pub(crate) fn component<'w>(world: &'w World, name: &str) -> Result<&'w ComponentInfo, String> {
    let known =
        || world.reflect().components().map(ComponentInfo::name).collect::<Vec<_>>().join(", ");
    let info = world.reflect().component(name);
    info.ok_or_else(|| format!("no component `{name}`: there are {}", known()))
}

struct Scene<'w>(&'w World);

impl<'de> DeserializeSeed<'de> for Scene<'_> {
    type Value = Vec<Components>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Scene<'_> {
    type Value = Vec<Components>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of entities")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entities = Vec::new();
        while let Some(entity) = list.next_element_seed(EntityIn(self.0))? {
            entities.push(entity);
        }
        Ok(entities)
    }
}

struct EntityIn<'w>(&'w World);

impl<'de> DeserializeSeed<'de> for EntityIn<'_> {
    type Value = Components;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Components, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EntityIn<'_> {
    type Value = Components;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entity: an object with a value for each component")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Components, A::Error> {
        let mut components = Components::new();
        while let Some(name) = map.next_key::<String>()? {
            let info = component(self.0, &name).map_err(A::Error::custom)?;
            if components.iter().any(|(known, _)| *known == name) {
                return Err(A::Error::custom(format!("an entity has its `{name}` twice")));
            }
            components.push((info.name(), map.next_value_seed(ValueOf(info))?));
        }
        Ok(components)
    }
}
