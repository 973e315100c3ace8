use super::*;
use crate::many;
use std::sync::Mutex;

/// Asks for all data, which go to `FOUND`.
#[derive(GlobalEvent)]
struct All;

static FOUND: Mutex<Vec<f32>> = Mutex::new(Vec::new());

/// Queries belong to handlers, and one event starts all of them.
pub(crate) fn query_many(h: &mut Harness, _: usize) {
    let mut w = World::new();
    macro_rules! add {
        ($a:ident $b:ident) => {
            for i in 0..2 * MANY_QUERIES_ROWS {
                let e = w.spawn();
                w.insert(e, Data((i % MANY_QUERIES_ROWS) as f32));
                w.insert(e, $a);
                w.insert(e, $b);
                if i >= MANY_QUERIES_ROWS {
                    w.insert(e, New);
                }
            }
            w.add_handler(|_: Receiver<Tick>, f: Fetcher<(&mut Data, With<&$a>, With<&$b>)>| {
                f.into_iter().for_each(|(data, ..)| data.0 += 1.0);
            });
        };
    }
    for_pairs!(add);
    w.add_handler(|_: Receiver<All>, f: Fetcher<&Data>| {
        *FOUND.lock().expect("one thread") = f.iter().map(|data| data.0).collect();
    });
    many::query_many(h, "", (w, vec![Box::new(|w: &mut World| w.send(Tick))]), |w| {
        w.send(All);
        std::mem::take(&mut *FOUND.lock().expect("one thread"))
    });
}
