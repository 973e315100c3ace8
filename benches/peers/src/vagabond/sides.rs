//! The libraries that take part: two by archetypes, one by sparse sets.

use super::types::{Number, SYSTEMS, TYPES, functions};

/// A world with component types chosen by number.
pub(super) trait Side: Default {
    const NAME: &'static str;
    type Id: Copy;

    /// An entity without components.
    fn create(&mut self) -> Self::Id;
    /// Gives it a component, which starts at 1.
    fn add(&mut self, entity: Self::Id, index: usize);
    fn destroy(&mut self, entity: Self::Id);
    /// Adds 1 to every component of a type.
    fn update(&mut self, index: usize);
    /// The sum of all components of a type.
    fn sum(&mut self, index: usize) -> f64;
}

pub(super) mod with_phalanx {
    use super::{Side, *};
    use phalanx::prelude::*;

    fn add<C: Number>(world: &mut World, entity: Entity) {
        world.insert(entity, C::one()).expect("it is alive");
    }

    fn update<C: Number>(world: &mut World) {
        for components in world.query_mut::<&mut C>() {
            components.iter_mut().for_each(|c| *c.value_mut() += 1.0);
        }
    }

    fn sum<C: Number>(world: &mut World) -> f64 {
        world.query::<&C>().iter().flatten().map(|c| f64::from(c.value())).sum()
    }

    /// Rows, lines of memory and turns of an update of one type.
    #[cfg(test)]
    fn work<C: Number>(world: &World) -> [usize; 3] {
        let query = world.query::<&C>();
        let walk = query.explain();
        [walk.rows(), usize::try_from(walk.lines()).expect("few"), query.iter().count()]
    }

    /// Rows, lines of memory and turns of the updates of this many types.
    #[cfg(test)]
    pub(in super::super) fn works(world: &World, systems: usize) -> [usize; 3] {
        static WORK: [fn(&World) -> [usize; 3]; SYSTEMS] = functions!(64 work);
        let add = |sum: [usize; 3], work: [usize; 3]| std::array::from_fn(|i| sum[i] + work[i]);
        WORK[..systems].iter().map(|work| work(world)).fold([0; 3], add)
    }

    static ADD: [fn(&mut World, Entity); TYPES] = functions!(512 add);
    static UPDATE: [fn(&mut World); SYSTEMS] = functions!(64 update);
    static SUM: [fn(&mut World) -> f64; SYSTEMS] = functions!(64 sum);

    impl Side for World {
        const NAME: &'static str = "phalanx";
        type Id = Entity;

        fn create(&mut self) -> Entity {
            self.spawn(())
        }
        fn add(&mut self, entity: Entity, index: usize) {
            ADD[index](self, entity);
        }
        fn destroy(&mut self, entity: Entity) {
            self.despawn(entity).expect("it is alive");
        }
        fn update(&mut self, index: usize) {
            UPDATE[index](self);
        }
        fn sum(&mut self, index: usize) -> f64 {
            SUM[index](self)
        }
    }
}

mod with_hecs {
    use super::*;
    use hecs::{Entity, World};

    fn add<C: Number>(world: &mut World, entity: Entity) {
        world.insert_one(entity, C::one()).expect("it is alive");
    }

    fn update<C: Number>(world: &mut World) {
        world.query_mut::<&mut C>().into_iter().for_each(|c| *c.value_mut() += 1.0);
    }

    fn sum<C: Number>(world: &mut World) -> f64 {
        world.query_mut::<&C>().into_iter().map(|c| f64::from(c.value())).sum()
    }

    static ADD: [fn(&mut World, Entity); TYPES] = functions!(512 add);
    static UPDATE: [fn(&mut World); SYSTEMS] = functions!(64 update);
    static SUM: [fn(&mut World) -> f64; SYSTEMS] = functions!(64 sum);

    impl Side for World {
        const NAME: &'static str = "hecs";
        type Id = Entity;

        fn create(&mut self) -> Entity {
            self.spawn(())
        }
        fn add(&mut self, entity: Entity, index: usize) {
            ADD[index](self, entity);
        }
        fn destroy(&mut self, entity: Entity) {
            self.despawn(entity).expect("it is alive");
        }
        fn update(&mut self, index: usize) {
            UPDATE[index](self);
        }
        fn sum(&mut self, index: usize) -> f64 {
            SUM[index](self)
        }
    }
}

mod with_shipyard {
    use super::*;
    use shipyard::{EntityId, IntoIter, View, ViewMut, World};

    fn add<C: Number>(world: &mut World, entity: EntityId) {
        world.add_component(entity, C::one());
    }

    fn update<C: Number>(world: &mut World) {
        world.run(|mut all: ViewMut<C>| (&mut all).iter().for_each(|c| *c.value_mut() += 1.0));
    }

    fn sum<C: Number>(world: &mut World) -> f64 {
        world.run(|all: View<C>| all.iter().map(|c| f64::from(c.value())).sum())
    }

    static ADD: [fn(&mut World, EntityId); TYPES] = functions!(512 add);
    static UPDATE: [fn(&mut World); SYSTEMS] = functions!(64 update);
    static SUM: [fn(&mut World) -> f64; SYSTEMS] = functions!(64 sum);

    impl Side for World {
        const NAME: &'static str = "shipyard";
        type Id = EntityId;

        fn create(&mut self) -> EntityId {
            self.add_entity(())
        }
        fn add(&mut self, entity: EntityId, index: usize) {
            ADD[index](self, entity);
        }
        fn destroy(&mut self, entity: EntityId) {
            assert!(self.delete_entity(entity), "it is alive");
        }
        fn update(&mut self, index: usize) {
            UPDATE[index](self);
        }
        fn sum(&mut self, index: usize) -> f64 {
            SUM[index](self)
        }
    }
}
