//! The numbers of ids that systems took in one stage, by which the next stages divide their ids.
//!
//! They belong to the world and not to the schedule, because the ids that come next follow from
//! them: a world that was put back, or read from bytes, gives the same ids as the first time.

/// The place of a command buffer in its schedule, which is the same in each run. Buffers of two
/// schedules may have one seat and share a demand: the greater one costs gaps between ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seat(u32);

impl Seat {
    /// The seat of a buffer, from the number of its stage and its number among the buffers of the
    /// stage. In a schedule of so many that these overlap, some share seats.
    pub(crate) const fn new(stage: u32, buffer: u32) -> Self {
        Self(stage << 16 ^ buffer)
    }
}

/// The ids that the buffer in one seat took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IdDemand {
    /// The greatest number of ids that were requested in one stage.
    pub(super) most: u32,
    /// The last stage in which ids were requested, counted as in [`IdDemands`].
    pub(super) last: u64,
}

/// The demands of all seats that ever took ids. A pointer, since most worlds have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdDemands(Option<Box<Demands>>);

/// Demands, one at least.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Demands {
    /// In the order of the seats.
    list: Vec<(Seat, IdDemand)>,
    /// The number of stages in which ids were requested.
    stages: u64,
}

impl IdDemands {
    /// The demand of a seat. O(log seats).
    pub(super) fn of(&self, seat: Seat) -> IdDemand {
        let Some(demands) = &self.0 else { return IdDemand::default() };
        demands.find(seat).map_or(IdDemand::default(), |at| demands.list[at].1)
    }

    /// Records the numbers of ids that were requested in one stage. O(requests), and O(seats) for
    /// each seat that is new.
    pub(super) fn record(&mut self, requests: impl IntoIterator<Item = (Seat, u32)>) {
        let mut requests = requests.into_iter().filter(|&(_, requested)| requested > 0).peekable();
        if requests.peek().is_some() {
            self.0.get_or_insert_default().record(requests);
        }
    }

    /// Three numbers for each seat: the seat, the greatest number of ids, and the number of stages
    /// since the last request. They determine the division of the ids that come next.
    pub(super) fn numbers(&self) -> Vec<u32> {
        let Some(demands) = &self.0 else { return Vec::new() };
        let age = |last| u32::try_from(demands.stages - last).unwrap_or(u32::MAX);
        let list = demands.list.iter();
        list.flat_map(|&(seat, IdDemand { most, last })| [seat.0, most, age(last)]).collect()
    }

    /// The demands with these [numbers](Self::numbers). `None` if no demands have them.
    pub(super) fn of_numbers(numbers: &[u32]) -> Option<Self> {
        if numbers.is_empty() {
            return Some(Self::default());
        }
        let (triples, rest) = numbers.as_chunks::<3>();
        let stages = triples.iter().map(|&[_, _, age]| u64::from(age) + 1).max().unwrap_or(0);
        let demand = |&[seat, most, age]: &[u32; 3]| {
            (Seat(seat), IdDemand { most, last: stages - u64::from(age) })
        };
        let list: Vec<_> = triples.iter().map(demand).collect();
        let is_sorted = list.is_sorted_by(|(seat, _), (next, _)| seat < next);
        let is_used = list.iter().all(|(_, demand)| demand.most > 0);
        let has_newest = triples.iter().any(|&[_, _, age]| age == 0);
        let are_demands = rest.is_empty() && is_sorted && is_used && has_newest;
        are_demands.then(|| Self(Some(Box::new(Demands { list, stages }))))
    }
}

impl Demands {
    fn find(&self, seat: Seat) -> Result<usize, usize> {
        self.list.binary_search_by_key(&seat, |&(seat, _)| seat)
    }

    /// Records requests, one at least, of more than no ids each.
    fn record(&mut self, requests: impl Iterator<Item = (Seat, u32)>) {
        self.stages += 1;
        for (seat, requested) in requests {
            let at = self.find(seat).unwrap_or_else(|at| {
                self.list.insert(at, (seat, IdDemand::default()));
                at
            });
            let IdDemand { most, .. } = self.list[at].1;
            self.list[at].1 = IdDemand { most: most.max(requested), last: self.stages };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_are_greatest_requests_and_their_numbers_make_them_again() {
        let mut demands = IdDemands::default();
        let [a, b, c] = [Seat::new(0, 0), Seat::new(0, 1), Seat::new(7, 0)];
        demands.record([(c, 5), (a, 9)]);
        demands.record([(a, 0)]);
        demands.record([(b, 1), (c, 3)]);
        assert_eq!([a, b, c].map(|seat| demands.of(seat).most), [9, 1, 5]);
        assert_eq!([a, b, c].map(|seat| demands.of(seat).last), [1, 2, 2]);
        assert_eq!(demands.numbers(), [0, 9, 1, 1, 1, 0, 7 << 16, 5, 0]);
        let made = IdDemands::of_numbers(&demands.numbers()).expect("they are numbers of demands");
        assert_eq!(made.numbers(), demands.numbers());
        assert_eq!(IdDemands::of_numbers(&[]), Some(IdDemands::default()));
    }

    #[test]
    fn other_numbers_are_refused() {
        for numbers in
            [&[0, 1][..], &[0, 0, 0], &[3, 1, 0, 3, 1, 0], &[3, 1, 0, 2, 1, 0], &[0, 1, 1]]
        {
            assert_eq!(IdDemands::of_numbers(numbers), None, "{numbers:?}");
        }
    }
}
