//! Systems and the schedule, from outside.
//!
//! All modules but `text` run rayon, which Miri wants run with other flags.

use phalanx::prelude::*;

mod background;
mod changes;
mod conditions;
mod conflicts;
mod determinism;
mod determinism_of_sets;
#[path = "../../src/effort.rs"]
mod effort;
mod enable;
mod event_panics;
mod events;
mod forgotten_guards;
mod hostile;
mod ids;
mod named;
mod order;
mod parameters;
mod recovery;
mod removed;
mod report;
mod results;
mod rollback;
mod run_once;
mod sparse;
mod text;
mod threads;
mod tuples;

#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct A(pub(crate) u64);
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct B(pub(crate) u64);
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct C(pub(crate) u64);
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Mark;
impl_component!(A as "A", B as "B", C as "C", Mark as "Mark");

/// The names of systems in the order in which they ran.
#[derive(Default)]
pub(crate) struct Log(pub(crate) std::sync::Mutex<Vec<String>>);

impl Log {
    pub(crate) fn note(&self, name: &str) {
        self.0.lock().unwrap().push(name.to_owned());
    }

    pub(crate) fn take(world: &mut World) -> Vec<String> {
        let mut log = world.resource_mut::<Self>().unwrap();
        std::mem::take(log.0.get_mut().unwrap())
    }
}

/// A system that notes its name.
pub(crate) fn note(name: &'static str) -> impl FnMut(Res<'_, Log>) + Send + 'static {
    move |log| log.note(name)
}

/// A world with a log, and a few entities in two archetypes.
pub(crate) fn world() -> World {
    let mut world = World::builder().chunk_size(ChunkSize::KIB_4).build();
    world.insert_resource(Log::default());
    world.spawn_batch((0..300).map(|i| (A(i), B(i))));
    world.spawn_batch((0..300).map(|i| (A(i), B(i), Mark)));
    world
}

/// The text of a panic.
pub(crate) fn panic_text(run: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    let text = payload.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a text")
}

/// The text of a panic, and the file with the line that it names. The hook that learns the file is
/// installed once, and forwards the panics of all other threads.
pub(crate) fn panic_text_and_file(run: impl FnOnce()) -> (String, String) {
    use std::cell::RefCell;
    use std::sync::Once;
    thread_local!(static FILE: RefCell<Option<String>> = const { RefCell::new(None) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let mine = FILE.with_borrow_mut(|file| {
                let location = info.location().expect("a panic has a place");
                file.as_mut().map(|file| location.file().clone_into(file)).is_some()
            });
            if !mine {
                others(info);
            }
        }));
    });
    FILE.set(Some(String::new()));
    let text = panic_text(run);
    (text, FILE.take().expect("it was set"))
}
