//! The value that represents the type of a query in the [store](crate::store).

use core::any::{TypeId, type_name};

use crate::store::{ComponentIds, QueryType, Requirements, RequirementsBuilder};

use super::filter::Filter;
use super::terms::Terms;

/// The type of a query with these terms and filters.
#[inline]
pub(crate) fn query_type<Q: Terms, F: Filter>() -> QueryType {
    QueryType {
        key: TypeId::of::<(Q::Key, F)>(),
        name: type_name::<(Q, F)>,
        columns: Q::COLUMNS,
        writes: Q::WRITES,
        describe: describe::<Q, F>,
    }
}

fn describe<Q: Terms, F: Filter>(ids: ComponentIds<'_>) -> Requirements {
    let mut builder = RequirementsBuilder::new(ids);
    Q::describe(&mut builder);
    builder.end_terms();
    F::describe(&mut builder);
    builder.build()
}

#[cfg(test)]
mod tests {
    use bytemuck::{Pod, Zeroable};

    use super::super::filter::{AnyOf, Changed, With, Without};
    use super::*;
    use crate::component;
    use crate::component::Registry;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct C(f32);
    component!(A as "A", B as "B", C as "C");

    /// Whether two queries clash; checked in both directions.
    fn clash<Q: Terms, F: Filter, R: Terms, G: Filter>() -> Option<&'static str> {
        let mut registry = Registry::default();
        let a = describe::<Q, F>(ComponentIds::Register(&mut registry));
        let b = describe::<R, G>(ComponentIds::Register(&mut registry));
        assert_eq!(a.clash(&b).is_some(), b.clash(&a).is_some(), "a clash depends on the order");
        a.clash(&b)
    }

    #[test]
    fn readers_do_not_clash_and_writers_do() {
        assert_eq!(clash::<&A, (), &A, ()>(), None);
        assert_eq!(clash::<&A, (), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&mut A, (), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&mut A, (), &mut B, ()>(), None);
        assert_eq!(clash::<(&A, &mut B), (), (&A, &B), ()>(), Some("B"));
        assert_eq!(clash::<Option<&mut A>, (), &A, ()>(), Some("A"));
    }

    #[test]
    fn a_filter_that_reads_stamps_is_a_reader() {
        assert_eq!(clash::<&B, (Changed<A>,), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&B, (With<A>,), &mut A, ()>(), None);
    }

    #[test]
    fn queries_do_not_clash_if_one_requires_what_the_other_excludes() {
        assert_eq!(clash::<&mut A, (With<B>,), &mut A, (Without<B>,)>(), None);
        assert_eq!(clash::<(&mut A, &B), (), &mut A, (Without<B>,)>(), None);
        assert_eq!(clash::<(&mut A, Option<&B>), (), &mut A, (Without<B>,)>(), Some("A"));
        assert_eq!(clash::<&mut A, (AnyOf<(B, C)>,), &mut A, (Without<B>,)>(), Some("A"));
        assert_eq!(clash::<&mut A, (AnyOf<(B, C)>,), &mut A, (Without<B>, Without<C>)>(), None);
        assert_eq!(clash::<&mut A, (AnyOf<(B,)>,), &mut A, (Without<B>,)>(), None);
    }
}
