//! The steps of a reader, once for all logs of rows.

/// Implements [`Log`](super::Log) for a marker of rows. `list` is the field of
/// [`Logs`](crate::store::Logs) with its log, filed under a kind of rows, and `items` are the
/// entries, made from the entities and the values.
macro_rules! impl_row_log {
    (
        impl $([$C:ident])? Log for $Marker:ty;
        list: $list:ident of $Kind:ty;
        access: $phrase:literal;
        items: $Items:ty = $items:expr;
    ) => {
        impl $(<$C: $crate::component::AnyComponent<Shape: $crate::logs::row_shape::RowShape>>)?
            $crate::logs::log::sealed::Sealed for $Marker
        {
        }
        impl $(<$C: $crate::component::AnyComponent<Shape: $crate::logs::row_shape::RowShape>>)?
            $crate::logs::log::Log for $Marker
        {
            type Items<'w> = $Items;
            type Held<'w> = $Items;
            type Kept = $crate::store::RowLog<<$Kind as $crate::store::RowKind>::Value>;
            type Guard<'w> = &'w Self::Kept;
            const BEGINS_LATER: bool = true;

            fn access() -> $crate::logs::log::LogAccess {
                let name = <$Kind as $crate::logs::row_shape::RowShape>::NAME;
                $crate::logs::log::LogAccess::Rows { phrase: $phrase, name }
            }

            fn add_reader(world: &mut $crate::world::World) -> $crate::store::ReaderPosition {
                let subject = <$Kind as $crate::logs::row_shape::RowShape>::subject(world);
                world.store.logs_mut().$list.add_reader::<$Kind>(subject)
            }

            fn keep(world: &mut $crate::world::World, bytes: usize) {
                let subject = <$Kind as $crate::logs::row_shape::RowShape>::subject(world);
                world.store.logs_mut().$list.get_or_add::<$Kind>(subject).keep(bytes);
            }

            fn guard(logs: &$crate::store::Logs) -> &Self::Kept {
                logs.$list.get::<$Kind>().expect("the log of a reader was not added")
            }

            fn items(kept: &Self::Kept, since: u64) -> Self::Items<'_> {
                $items(kept.unread(since))
            }

            fn hold(world: &$crate::world::World, since: u64) -> (Self::Held<'_>, u64) {
                let kept = Self::guard(world.store.logs());
                (Self::items(kept, since), $crate::store::Kept::end(kept))
            }
        }
    };
}
pub(super) use impl_row_log;
