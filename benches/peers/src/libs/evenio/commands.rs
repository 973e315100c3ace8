use super::*;
use crate::pairs::{self, Pairs};

#[derive(GlobalEvent)]
struct AddAll;
#[derive(GlobalEvent)]
struct RemoveAll;

/// A handler queues events, which are handled when it has returned.
pub(crate) fn commands(h: &mut Harness, n: usize) {
    let (mut w, e) = structure::entities_with_a(n);
    let all = e.clone();
    w.add_handler(move |_: Receiver<AddAll>, mut sender: Sender<Insert<B>>| {
        all.iter().for_each(|&e| sender.insert(e, B(0.0)));
    });
    let all = e.clone();
    w.add_handler(move |_: Receiver<RemoveAll>, mut sender: Sender<Remove<B>>| {
        all.iter().for_each(|&e| sender.remove::<B>(e));
    });
    pairs::run(
        h,
        "Sender",
        Pairs::in_order((w, e)),
        |w, _| w.send(AddAll),
        |w, _| w.send(RemoveAll),
        |w, e| structure::holders::<B>(w, e),
        |w, e, _| structure::kept(w, e),
    );
}
