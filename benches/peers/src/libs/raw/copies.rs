use super::*;

pub(crate) fn instantiate(h: &mut Harness, n: usize) {
    let setup = || insert::columns(PROTOTYPE..PROTOTYPE + 1);
    let work = |(mut t, mut p, mut r, mut v): insert::Columns| {
        t.resize(n + 1, t[0]);
        p.resize(n + 1, p[0]);
        r.resize(n + 1, r[0]);
        v.resize(n + 1, v[0]);
        (t, p, r, v)
    };
    h.run_fresh("", setup, work, insert::rows);
}
