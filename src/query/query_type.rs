//! The value that represents the type of a query in the [store](crate::store).

use core::any::{TypeId, type_name};

use crate::store::{ComponentIds, QueryType, Requirements, RequirementsBuilder};

use super::filter::{Filter, IncludeHidden};
use super::term::Term;
use super::terms::Terms;

/// The type of a query with these terms and filters.
#[inline]
pub(crate) const fn query_type<Q: Terms, F: Filter>() -> &'static QueryType {
    const {
        &QueryType {
            key: TypeId::of::<(Q::Key, F)>(),
            name: type_name::<(Q::Key, F)>,
            columns: Q::COLUMNS,
            describe: describe::<Q, F>,
        }
    }
}

/// The type of a query of one term in all entities, hidden ones too, for lookups by entity.
#[inline]
pub(crate) const fn lookup_type<T: Term + Terms>() -> &'static QueryType {
    query_type::<T, IncludeHidden>()
}

/// Whether the query sees only some rows of a chunk, chosen by enable bits, by sparse components or
/// by lines.
pub(crate) const fn is_by_row<Q: Terms, F: Filter>() -> bool {
    F::BY_LINES > 0 || F::BY_MEMBERS || Q::BY_MEMBERS || !F::ALL_ROWS && (Q::BY_ROW || F::BY_ROW)
}

/// Whether a pass tests chunks one by one, or needs more of them than cached addresses and runs of
/// several chunks have.
pub(super) const fn is_by_chunk<Q: Terms, F: Filter>() -> bool {
    F::BY_CHUNK || Q::BESIDE || is_by_row::<Q, F>()
}

/// Whether the rows of an archetype all match if the archetype does, have all they need in columns,
/// and a write stamps the chunk alone. No filter of such a query calls code of a user.
pub(super) const fn is_by_cells<Q: Terms, F: Filter>() -> bool {
    !Q::TRACKS_LINES && !Q::WRITES_CHUNKS && !is_by_chunk::<Q::ByRow, F>()
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

    use super::super::changed::Changed;
    use super::super::filter::{AnyOf, IncludeHidden, With, Without};
    use super::*;
    use crate::component::{Disabled, Prototype, Registry};
    use crate::impl_component;

    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct A(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct B(f32);
    #[derive(Clone, Copy, Pod, Zeroable)]
    #[repr(C)]
    struct C(f32);
    impl_component!(A as "A", B as "B", C as "C");

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
    fn queries_do_not_clash_if_one_requires_what_hides_from_the_other() {
        assert_eq!(clash::<&mut A, (With<Disabled>,), &mut A, ()>(), None);
        assert_eq!(clash::<(&mut A, &Disabled), (), &mut A, ()>(), None);
        assert_eq!(clash::<(&mut A, Option<&Disabled>), (), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&mut A, (With<Disabled>,), &mut A, (With<Prototype>,)>(), None);
        let both = clash::<&mut A, (With<Disabled>, With<Prototype>), &mut A, (With<Prototype>,)>();
        assert_eq!(both, None);
        assert_eq!(clash::<&mut A, (AnyOf<(Disabled, Prototype)>,), &mut A, ()>(), None);
        assert_eq!(clash::<&mut A, (AnyOf<(Disabled, B)>,), &mut A, ()>(), Some("A"));
        assert_eq!(clash::<&mut A, (With<Disabled>,), &mut A, (IncludeHidden,)>(), Some("A"));
        assert_eq!(clash::<&mut A, (), &mut A, (IncludeHidden,)>(), Some("A"));
        assert_eq!(clash::<&mut A, (Without<Disabled>,), &mut A, (IncludeHidden,)>(), Some("A"));
    }

    #[test]
    fn what_sees_hidden_archetypes_is_not_within_what_does_not() {
        fn within<F: Filter, G: Filter>() -> bool {
            let mut registry = Registry::default();
            let f = describe::<&A, F>(ComponentIds::Register(&mut registry));
            let g = describe::<&A, G>(ComponentIds::Register(&mut registry));
            f.is_within(&g)
        }
        assert!(within::<Without<Disabled>, ()>() && within::<With<B>, ()>());
        assert!(!within::<With<Disabled>, ()>() && !within::<AnyOf<(Disabled, B)>, ()>());
        assert!(!within::<IncludeHidden, ()>() && within::<(), IncludeHidden>());
        assert!(within::<With<Disabled>, IncludeHidden>());
        assert!(!within::<IncludeHidden, AnyOf<(Disabled, Prototype)>>());
        assert!(!within::<(IncludeHidden, Without<Disabled>), ()>(), "there are others");
        assert!(within::<(With<Prototype>, Without<Disabled>), With<Prototype>>());
        assert!(!within::<(With<Prototype>, With<Disabled>), With<Prototype>>());
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
