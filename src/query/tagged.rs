//! Archetypes that filters choose by the tags of shared values, found without visiting the others.

use crate::store::Plan;

use super::filter::Filter;

/// The first entry from number `from` on that the tags of the filter choose: the entries of the tag
/// that the fewest archetypes have. `None` if the filter chooses no more. O(log(archetypes of the
/// tag)).
#[inline]
pub(super) fn next_entry<F: Filter>(plan: &Plan, filter: &F, from: usize) -> Option<usize> {
    if !F::BY_TAG {
        return Some(from);
    }
    let mut fewest: Option<&[u32]> = None;
    filter.tags(&mut |tag| {
        let entries = plan.tagged(tag);
        if fewest.is_none_or(|fewest| entries.len() < fewest.len()) {
            fewest = Some(entries);
        }
    });
    let entries = fewest.expect("a filter by tags names none");
    let next = entries.partition_point(|&entry| (entry as usize) < from);
    entries.get(next).map(|&entry| entry as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archetype::Archetypes;
    use crate::component::ComponentSet;
    use crate::entity::Directory;
    use crate::query::query_type;
    use crate::query::shared_terms::WhereShared;
    use crate::store::Store;

    const VALUES: u32 = if cfg!(miri) { 8 } else { 1_000 };

    /// The entries of a filter: one step for each, and a last one that finds no more.
    fn entries<F: Filter>(store: &Store, filter: F) -> Vec<usize> {
        let plan = store.plan(query_type::<(), F>());
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(entry) = next_entry(plan, &filter, from) {
            found.push(entry);
            from = entry + 1;
        }
        found
    }

    #[test]
    fn the_archetypes_of_a_value_are_found_without_the_others() {
        let mut store = Store::new(Archetypes::default(), Directory::new(0), 1);
        let parity: Vec<_> = [0u8, 1].map(|value| store.registry_mut().share(value)).into();
        let mut values = Vec::new();
        // Each plan is made before some of its archetypes and after others.
        for value in 0..VALUES {
            let row = store.registry_mut().share(value);
            let even = &parity[value as usize % 2];
            for set in [&[row.marker, row.tag][..], &[row.marker, row.tag, even.marker, even.tag]] {
                let set: ComponentSet = set.iter().copied().collect();
                store.find_or_add(&set).expect("a row of tags fits");
            }
            values.push(row);
            if value == VALUES / 2 {
                let none = WhereShared::<u32>::new(store.registry().shared_tag(&VALUES));
                assert!(entries(&store, none).is_empty(), "no entity has the value");
            }
        }
        assert!(store.is_consistent(), "a plan has lost an entry");
        let of_u32 = |value: u32| WhereShared::<u32>::new(store.registry().shared_tag(&value));
        let of_u8 = |value: u8| WhereShared::<u8>::new(store.registry().shared_tag(&value));
        for value in 0..VALUES {
            let first = 2 * value as usize;
            assert_eq!(entries(&store, of_u32(value)), [first, first + 1], "value {value}");
        }
        // With two filters, the value that fewer archetypes have decides.
        let both = entries(&store, (of_u8(1), of_u32(3)));
        assert!(both.len() <= 2, "{both:?} are those of an odd number, or of all of them");
        assert_eq!(entries(&store, of_u8(1)).len(), VALUES as usize / 2);
    }
}
