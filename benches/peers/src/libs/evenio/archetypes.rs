use super::*;
use crate::cached::{self, Queries};

/// Asks every handler for its answer, which it adds to `ANSWERS`.
#[derive(GlobalEvent)]
struct Question(cached::Ask);

static ANSWERS: AtomicU64 = AtomicU64::new(0);

pub(crate) fn new_archetypes(h: &mut Harness, archetypes: usize) {
    let add = |w: &mut World, e| w.insert(e, New);
    cached::new_archetypes(h, || iterate::tagged(archetypes, |_| 1.0), queries, add);
}

/// Queries belong to handlers, and one event asks all of them.
fn queries(w: &mut World) -> Queries<World> {
    macro_rules! add {
        ($a:ident $b:ident) => {
            w.add_handler(|r: Receiver<Question>, f: Fetcher<(&Data, With<&$a>, With<&$b>)>| {
                ANSWERS.fetch_add(r.event.0.of(f.iter()) as u64, Ordering::Relaxed);
            });
            w.add_handler(|r: Receiver<Question>, f: Fetcher<(&Data, With<&$a>, Not<&$b>)>| {
                ANSWERS.fetch_add(r.event.0.of(f.iter()) as u64, Ordering::Relaxed);
            });
        };
    }
    for_pairs!(add);
    let all = |w: &mut World, ask| {
        w.send(Question(ask));
        ANSWERS.swap(0, Ordering::Relaxed) as usize
    };
    vec![Box::new(all)]
}
