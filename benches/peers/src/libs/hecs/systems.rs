use super::*;
use crate::forms::swap;

/// The library has no scheduler. `[rayon::join]` is one written by hand: the two loops that share a
/// component stay in order.
pub(crate) fn by_hand(h: &mut Harness, n: usize) {
    let rows = |w: &mut World| {
        by_rows::<A, B>(w, |a, b| std::mem::swap(&mut a.0, &mut b.0));
        by_rows::<C, D>(w, |c, d| std::mem::swap(&mut c.0, &mut d.0));
        by_rows::<C, E>(w, |c, e| std::mem::swap(&mut c.0, &mut e.0));
    };
    h.run("", abcde(n), rows, sums);
    for form in Form::OF_ONE {
        let columns = |w: &mut World| {
            by_columns::<A, B>(w, form);
            by_columns::<C, D>(w, form);
            by_columns::<C, E>(w, form);
        };
        h.run(&form.of("columns"), abcde(n), columns, sums);
    }
    let joined = |w: &mut World| {
        let w = &*w;
        rayon::join(
            || by_rows::<A, B>(w, |a, b| std::mem::swap(&mut a.0, &mut b.0)),
            || {
                by_rows::<C, D>(w, |c, d| std::mem::swap(&mut c.0, &mut d.0));
                by_rows::<C, E>(w, |c, e| std::mem::swap(&mut c.0, &mut e.0));
            },
        );
    };
    h.run("rayon::join", abcde(n), joined, sums);
}

fn by_rows<X: hecs::Component, Y: hecs::Component>(w: &World, swap: impl Fn(&mut X, &mut Y)) {
    w.query::<(&mut X, &mut Y)>().iter().for_each(|(x, y)| swap(x, y));
}

fn by_columns<X: hecs::Component + Pod, Y: hecs::Component + Pod>(w: &World, form: Form) {
    for a in w.archetypes() {
        if let (Some(mut x), Some(mut y)) = (a.get::<&mut X>(), a.get::<&mut Y>()) {
            swap(form, &mut x, &mut y);
        }
    }
}

fn abcde(n: usize) -> World {
    let k = n / 4;
    let mut w = World::new();
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), D(4.0))));
    w.spawn_batch((0..k).map(|_| (A(1.0), B(2.0), C(3.0), E(5.0))));
    w
}

fn sums(w: &mut World) -> Outcome {
    Outcome::Sums([
        w.query::<&A>().iter().map(|x| f64::from(x.0)).sum(),
        w.query::<&B>().iter().map(|x| f64::from(x.0)).sum(),
        w.query::<&C>().iter().map(|x| f64::from(x.0)).sum(),
        w.query::<&D>().iter().map(|x| f64::from(x.0)).sum(),
        w.query::<&E>().iter().map(|x| f64::from(x.0)).sum(),
    ])
}
