//! The bytes of a state, as what differs from those of an older one: lanes are XORed, and zeros are
//! counted.
//!
//! ```text
//!  new      │ ids │ positions │ velocities │       blocks of 256 bytes
//!           ↑     ↑           ↑
//!  old      │ id│ positions│ velocities│           each from its place in the old bytes
//!
//!  XOR      0 0 0 0 0 0 0 0   0 0 0 0 0 0 1F 02   0 0 0 0 0 0 0 0 …
//!  packed   00 00             C0 1F 02            00 …
//! ```
//!
//! **XOR.** What did not change is zero. A number that changed a little has the sign, the exponent
//! and the first digits that it had, which are zero as well.
//!
//! **Places.** Arrays get longer and shorter when rows come and go, so what lies behind them moves.
//! A block is compared with the old bytes at the same distance as the block before it. If more than
//! a quarter of its elements differ there, other distances are tried.
//!
//! **Packing**, as that of Cap'n Proto: a lane of eight bytes becomes a byte with a bit for each
//! byte that is not zero, and these bytes. After a lane of zeros comes the number of further ones.

/// Bytes that have one place in the older ones.
const BLOCK: usize = 256;
/// A block is searched for this far from where a block before it was found, in both directions.
const REACH: isize = 1024;
/// Arrays have elements of a multiple of this.
const STEP: usize = 4;
/// Another place must have this many more equal bytes: it costs some, and chance has some.
const GAIN: usize = 16;
/// Bytes of a lane.
const LANE: usize = 8;

/// What makes `new` out of `old`.
pub(crate) fn encode(old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut xored = new.to_vec();
    // How many blocks in a row have the same distance, and the distance.
    let mut places: Vec<(u64, isize)> = Vec::new();
    let mut search = Search { old, last: 0, sure: 0 };
    for (number, block) in xored.chunks_mut(BLOCK).enumerate() {
        let distance = search.find(number * BLOCK, block);
        xor(block, old, number * BLOCK, distance);
        match places.last_mut() {
            Some((blocks, same)) if *same == distance => *blocks += 1,
            _ => places.push((1, distance)),
        }
    }
    let mut out = Vec::new();
    put(&mut out, new.len() as u64);
    for (blocks, distance) in places {
        put(&mut out, blocks);
        // The sign comes last, so that small numbers are short.
        let distance = distance as i64;
        put(&mut out, (distance << 1 ^ distance >> 63).cast_unsigned());
    }
    pack(&xored, &mut out);
    out
}

/// The bytes that [`encode`] was given. `None` if there are none, or more than `len_max`.
pub(crate) fn decode(old: &[u8], mut bytes: &[u8], len_max: usize) -> Option<Vec<u8>> {
    let len = usize::try_from(take(&mut bytes)?).ok().filter(|&len| len <= len_max)?;
    let (mut places, mut left) = (Vec::new(), len.div_ceil(BLOCK));
    while left > 0 {
        let blocks = usize::try_from(take(&mut bytes)?).ok()?;
        left = left.checked_sub(blocks).filter(|_| blocks > 0)?;
        let number = take(&mut bytes)?;
        let distance = (number >> 1).cast_signed() ^ -(number & 1).cast_signed();
        places.push((blocks, isize::try_from(distance).ok()?));
    }
    let mut new = unpack(bytes, len)?;
    let distances = places.into_iter().flat_map(|(blocks, same)| std::iter::repeat_n(same, blocks));
    for ((number, block), distance) in new.chunks_mut(BLOCK).enumerate().zip(distances) {
        xor(block, old, number * BLOCK, distance);
    }
    Some(new)
}

/// Counts zeros, and takes them out of lanes.
pub(crate) fn pack(bytes: &[u8], out: &mut Vec<u8>) {
    let mut zeros = 0u64;
    let end_zeros = |zeros: &mut u64, out: &mut Vec<u8>| {
        if *zeros > 0 {
            out.push(0);
            put(out, *zeros - 1);
            *zeros = 0;
        }
    };
    for part in bytes.chunks(LANE) {
        let mut lane = [0; LANE];
        lane[..part.len()].copy_from_slice(part);
        if lane == [0; LANE] {
            zeros += 1;
            continue;
        }
        end_zeros(&mut zeros, out);
        let mask = (0..LANE).fold(0, |mask, i| mask | u8::from(lane[i] != 0) << i);
        out.push(mask);
        out.extend(lane.iter().filter(|&&byte| byte != 0));
    }
    end_zeros(&mut zeros, out);
}

/// The bytes that [`pack`] was given, of which there were `len`.
fn unpack(mut bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut lanes = Vec::with_capacity(len.div_ceil(LANE));
    let mut left = len.div_ceil(LANE);
    while left > 0 {
        let (&mask, rest) = bytes.split_first()?;
        bytes = rest;
        if mask == 0 {
            let zeros = usize::try_from(take(&mut bytes)?).ok()?.checked_add(1)?;
            left = left.checked_sub(zeros)?;
            lanes.resize(lanes.len() + zeros, [0; LANE]);
            continue;
        }
        let mut lane = [0; LANE];
        for i in (0..LANE).filter(|i| mask >> i & 1 == 1) {
            let (&byte, rest) = bytes.split_first()?;
            (lane[i], bytes) = (byte, rest);
        }
        lanes.push(lane);
        left -= 1;
    }
    let mut unpacked = lanes.into_flattened();
    let is_end = bytes.is_empty() && unpacked[len..].iter().all(|&byte| byte == 0);
    unpacked.truncate(len);
    is_end.then_some(unpacked)
}

/// Where blocks are found.
struct Search<'a> {
    old: &'a [u8],
    /// The distance of the block before.
    last: isize,
    /// The distance of the last block of which there was no doubt.
    sure: isize,
}

impl Search<'_> {
    /// The distance from a block to where the older bytes have most of it.
    fn find(&mut self, at: usize, block: &[u8]) -> isize {
        // Around what is sure, so that errors do not lead away; and around where nothing has moved,
        // to which an array of the same length leads back.
        for origin in [self.sure, 0] {
            if !self.is_sure(at, block, self.last) {
                self.last = self.best_around(at, block, origin);
            }
        }
        if self.is_sure(at, block, self.last) {
            self.sure = self.last;
        }
        self.last
    }

    /// The distance with most equal bytes, around an origin, or the last one.
    fn best_around(&self, at: usize, block: &[u8], origin: isize) -> isize {
        let (mut best, mut most) = (self.last, self.equal::<1>(at, block, self.last) + GAIN);
        for step in (0..=REACH).step_by(STEP) {
            for distance in [origin - step, origin + step] {
                let count = self.equal::<1>(at, block, distance);
                if count > most {
                    (best, most) = (distance, count);
                }
            }
        }
        best
    }

    /// Whether a quarter of the elements differ, or less. Bytes would not tell: many elements have
    /// the same upper ones.
    fn is_sure(&self, at: usize, block: &[u8], distance: isize) -> bool {
        self.equal::<STEP>(at, block, distance) * 4 >= block.len() / STEP * 3
    }

    /// How many parts of `N` bytes of a block are equal to the older ones.
    fn equal<const N: usize>(&self, at: usize, block: &[u8], distance: isize) -> usize {
        let (skipped, old) = overlap(self.old, at, distance);
        let (new, _) = block.get(skipped..).unwrap_or(&[]).as_chunks::<N>();
        let (old, _) = old.as_chunks::<N>();
        // Sixteen bits hold the count: so eight are added at once, at the baseline.
        new.iter().zip(old).map(|(new, old)| u16::from(new == old)).sum::<u16>().into()
    }
}

/// XORs a block with the older bytes, where there are any.
fn xor(block: &mut [u8], old: &[u8], at: usize, distance: isize) {
    let (skipped, old) = overlap(old, at, distance);
    let pairs = block.get_mut(skipped..).unwrap_or(&mut []).iter_mut().zip(old);
    pairs.for_each(|(new, old)| *new ^= old);
}

/// The older bytes of a block at a distance, and how many bytes of the block come before them.
fn overlap(old: &[u8], at: usize, distance: isize) -> (usize, &[u8]) {
    let (skipped, start) = match at.checked_add_signed(distance) {
        Some(start) => (0, start),
        None => (distance.unsigned_abs() - at, 0),
    };
    (skipped, old.get(start..).unwrap_or(&[]))
}

/// Writes a number, seven bits a byte: small ones are short.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7F {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

/// Reads a number that [`put`] has written.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
