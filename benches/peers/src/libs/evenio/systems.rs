use super::*;

/// The library has no scheduler: an event calls its handlers in the order in which they were added.
pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    let mut w = abcde(n);
    macro_rules! handler {
        ($a:ident, $b:ident) => {
            w.add_handler(|_: Receiver<Tick>, f: Fetcher<(&mut $a, &mut $b)>| {
                f.into_iter().for_each(|(a, b)| std::mem::swap(&mut a.0, &mut b.0));
            });
        };
    }
    handler!(A, B);
    handler!(C, D);
    handler!(C, E);
    h.run("handlers", w, |w| w.send(Tick), sums);
}

fn abcde(n: usize) -> World {
    let mut w = World::new();
    for i in 0..n {
        let e = w.spawn();
        w.insert(e, A(1.0));
        w.insert(e, B(2.0));
        match i % 4 {
            0 => {}
            1 => w.insert(e, C(3.0)),
            2 => {
                w.insert(e, C(3.0));
                w.insert(e, D(4.0));
            }
            _ => {
                w.insert(e, C(3.0));
                w.insert(e, E(5.0));
            }
        }
    }
    w
}

fn sums(w: &mut World) -> Outcome {
    macro_rules! sum {
        ($x:ident) => {{
            let handler = w.add_handler(|_: Receiver<Sum>, f: Fetcher<&$x>| {
                put(f.iter().map(|x| f64::from(x.0)).sum());
            });
            let sum = asked_sum(w);
            w.remove_handler(handler);
            sum
        }};
    }
    Outcome::Sums([sum!(A), sum!(B), sum!(C), sum!(D), sum!(E)])
}
