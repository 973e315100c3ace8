//! Components that exist at run time only.

use crate::component::{ComponentInfo, Description, RegisterError};

use super::by_name::ReflectMut;

impl ReflectMut<'_> {
    /// Registers a component that exists at run time only, for a mod, a script or a file of data:
    /// a name, and the names and types of its fields.
    ///
    /// It is a component as any other, but for types at calls: it is [inserted](Self::insert) and
    /// [read](crate::reflect::EntityView) by name, its columns are in the chunks of a
    /// [`NamedQuery`](crate::reflect::NamedQuery), and entities are copied, moved between worlds,
    /// hashed and saved with it. Bytes that are no value are refused, as for types.
    ///
    /// Fields have the places that C gives them. Their types are `bool`, `char`, `Entity`, numbers
    /// of a fixed size as `f32` and `u8`, and arrays of these and of arrays as `[f32; 3]`, at most
    /// eight in each other, in the form that
    /// [`FieldInfo::type_name`](crate::reflect::FieldInfo) has. The bytes of an entity
    /// are `phalanx::bytemuck::bytes_of(&entity)`, in another order than those of its
    /// [`to_bits`](crate::Entity::to_bits); such ids are [replaced](crate::MapEntities) in other
    /// worlds and in copies. Without fields it is a tag.
    /// [`register_layout_with`](Self::register_layout_with) makes it hidden, enableable, or one of
    /// cleanup.
    ///
    /// The name belongs to the first component that has it: register the types of the program
    /// before, since a type of the same name is refused afterwards: with
    /// [`NameTaken`](crate::error::NameTaken), or a panic of its text where the error of a call has
    /// no such case. The same fields in another call, and in another world, are the same component.
    /// A [state](crate::World::read_snapshot) that has it is read by worlds that have registered
    /// it, or a type of the same name, properties and fields; a merge with a world of that type is
    /// refused.
    ///
    /// O(fields²) for the call. The names and fields of each different layout are in memory until
    /// the process ends, whatever number of worlds has it.
    ///
    /// # Errors
    ///
    /// If a name is empty, long, taken or repeated, or has characters that are not shown, if a type
    /// is none of the above, if the fields leave bytes between them or at the end, or if the world
    /// has its maximum of types. The world is unchanged. A value that is larger than a chunk is an
    /// error where it is inserted.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// use phalanx::reflect::NamedQuery;
    ///
    /// #[component(name = "game.ship")]
    /// struct Ship { mass: f32 }
    ///
    /// let mut world = World::new();
    /// let ship = world.spawn(Ship { mass: 9.0 });
    /// let fields = [("litres", "f32"), ("tanker", "Entity")]; // from the files of a mod
    /// let fuel = world.reflect_mut().register_layout("mod.fuel", fields)?;
    /// assert_eq!((fuel.size(), fuel.align()), (12, 4));
    ///
    /// let value = [&5_f32.to_ne_bytes()[..], &[0; 8]].concat();
    /// world.reflect_mut().insert(ship, [("mod.fuel", &value[..])])?;
    /// let query = NamedQuery::new().write("mod.fuel").read("game.ship");
    /// world.reflect_mut().for_each_chunk(&query, |chunk| {
    ///     let [fuel, ships] = chunk.columns_mut() else { unreachable!("two terms") };
    ///     let ships = ships.values::<Ship>().unwrap();
    ///     let fuel = fuel.bytes_mut().unwrap().as_chunks_mut::<12>().0;
    ///     for (fuel, ship) in fuel.iter_mut().zip(ships) {
    ///         let (litres, _) = fuel.split_first_chunk_mut().unwrap();
    ///         *litres = (f32::from_ne_bytes(*litres) - ship.mass / 9.0).to_ne_bytes();
    ///     }
    /// })?;
    /// let view = world.entity(ship)?;
    /// let shown = format!("{:?}", view.component("mod.fuel").unwrap());
    /// assert_eq!(shown, "{litres: 4.0, tanker: 0v0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn register_layout<'n>(
        &mut self,
        name: &'n str,
        fields: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<ComponentInfo, RegisterError> {
        self.register_layout_with(name, [], fields)
    }

    /// [`register_layout`](Self::register_layout) of a component with properties: the words
    /// `hidden`, `cleanup` and `enableable` of [`#[component]`](crate::component), in any order.
    ///
    /// They belong to the component, as its fields do: the same name with other properties is
    /// another component, which is refused. A component of cleanup is
    /// [removed](Self::remove) by name, and an enableable one is
    /// [enabled and disabled](Self::set_enabled) by name.
    ///
    /// # Errors
    ///
    /// As [`register_layout`](Self::register_layout), or if a word is none of the three.
    ///
    /// ```
    /// # use phalanx::prelude::*;
    /// let mut world = World::new();
    /// let fields = [("volts", "f32")];
    /// let power = world.reflect_mut().register_layout_with("mod.power", ["enableable"], fields)?;
    /// assert!(power.is_enableable());
    /// let error = world.reflect_mut().register_layout_with("mod.ghost", ["hiden"], []);
    /// assert!(error.unwrap_err().to_string().contains("did you mean `hidden`?"));
    /// # Ok::<(), phalanx::reflect::RegisterError>(())
    /// ```
    pub fn register_layout_with<'n>(
        &mut self,
        name: &'n str,
        properties: impl IntoIterator<Item = &'n str>,
        fields: impl IntoIterator<Item = (&'n str, &'n str)>,
    ) -> Result<ComponentInfo, RegisterError> {
        let layout = Description::new(name, properties, fields)?;
        let id = self.world.store.registry_mut().register_layout(&layout)?;
        Ok(*self.world.store.registry().info(id))
    }
}
