//! The bytes of a state as the difference from the bytes of an older one: lanes are XORed, and
//! zeros are counted.
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
//! **XOR.** Unchanged bytes become zero. A number that changed a little keeps its sign, exponent
//! and first digits, which become zero as well.
//!
//! **Places.** Arrays grow and shrink when rows are added and removed, so the bytes after them
//! move. A block is compared with the old bytes at the same distance as the block before it. If
//! more than a quarter of its elements differ there, other distances are tried.
//!
//! **Packing**, like in Cap'n Proto: a lane of eight bytes becomes a byte with a bit for each byte
//! that is not zero, followed by these bytes. A lane of zeros is followed by the number of further
//! ones.

/// Bytes that have one place in the older ones.
const BLOCK: usize = 256;
/// A block is searched within this distance of the place of an earlier block, in both directions.
const REACH: isize = 1024;
/// Arrays have elements of a multiple of this.
const STEP: usize = 4;
/// Another place must have this many more equal bytes, because it costs some bytes and chance
/// equals some.
const GAIN: usize = 16;
/// Bytes of a lane.
const LANE: usize = 8;

/// The difference that turns `old` into `new`.
pub(crate) fn encode(old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut xored = new.to_vec();
    // The number of successive blocks with the same distance, and the distance.
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

/// The bytes that [`encode`] was given. `None` if the input is invalid, or for more than `len_max`
/// bytes.
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

/// The `len` bytes that [`pack`] was given.
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

/// The search for the places of blocks.
struct Search<'a> {
    old: &'a [u8],
    /// The distance of the block before.
    last: isize,
    /// The distance of the last block with a sure match.
    sure: isize,
}

impl Search<'_> {
    /// The distance from a block to the older bytes that equal most of it.
    fn find(&mut self, at: usize, block: &[u8]) -> isize {
        // Around the last sure distance, so that errors do not lead away; and around zero, the
        // right distance again after an array of unchanged length.
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

    /// Whether at most a quarter of the elements differ. Bytes are a worse measure: many elements
    /// have the same upper bytes.
    fn is_sure(&self, at: usize, block: &[u8], distance: isize) -> bool {
        self.equal::<STEP>(at, block, distance) * 4 >= block.len() / STEP * 3
    }

    /// The number of parts of `N` bytes of a block that equal the older ones.
    fn equal<const N: usize>(&self, at: usize, block: &[u8], distance: isize) -> usize {
        let (skipped, old) = overlap(self.old, at, distance);
        let (new, _) = block.get(skipped..).unwrap_or(&[]).as_chunks::<N>();
        let (old, _) = old.as_chunks::<N>();
        // Sixteen bits suffice for the count, so eight are added at once, at the baseline.
        new.iter().zip(old).map(|(new, old)| u16::from(new == old)).sum::<u16>().into()
    }
}

/// XORs a block with the older bytes, as far as they exist.
fn xor(block: &mut [u8], old: &[u8], at: usize, distance: isize) {
    let (skipped, old) = overlap(old, at, distance);
    let pairs = block.get_mut(skipped..).unwrap_or(&mut []).iter_mut().zip(old);
    pairs.for_each(|(new, old)| *new ^= old);
}

/// The older bytes of a block at a distance, and the number of bytes of the block before them.
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
