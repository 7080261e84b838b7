//! What is wrong with a block that was read back: each sector is compared with what should be there, and the kinds of difference
//! are told apart.

use std::fmt;

use super::pattern::{SECTOR_BYTES, Sector};

/// One fault of one block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// All of it is of an earlier pass: the last write was lost.
    Stale {
        /// The pass that should be there.
        expected: u32,
        /// The pass that is.
        found: u32,
    },
    /// A part of it is of an earlier pass: the last write was done in part.
    Torn {
        /// Sectors of an earlier pass.
        stale_sectors: u32,
        /// All sectors of the block.
        sectors: u32,
        /// Byte within the block at which the first of them begins.
        first: u32,
    },
    /// It holds what was written to another place.
    Misdirected {
        /// Sectors that lie equally far from where they belong.
        sectors: u32,
        /// Byte within the block at which the first of them begins.
        first: u32,
        /// Where that one belongs, in bytes from the start of the target.
        belongs_at: u64,
    },
    /// A few bits are wrong.
    Flipped {
        /// How many.
        bits: u32,
        /// Byte within the block of the first.
        byte: u32,
        /// Its bit within that byte, 0 for the lowest.
        bit: u8,
    },
    /// It holds nothing that was written in this run.
    Foreign {
        /// Sectors of that kind.
        sectors: u32,
        /// Byte within the block at which the first of them begins.
        first: u32,
        /// Whether another run of Outcrop wrote it.
        is_of_another_run: bool,
    },
    /// The device gave an error.
    Unreadable {
        /// What the system said.
        error: String,
    },
    /// The device did not take the write.
    Unwritable {
        /// What the system said.
        error: String,
    },
}

impl Fault {
    /// Its kind in a word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Stale { .. } => "stale",
            Self::Torn { .. } => "torn",
            Self::Misdirected { .. } => "misdirected",
            Self::Flipped { .. } => "flipped",
            Self::Foreign { .. } => "foreign",
            Self::Unreadable { .. } => "unreadable",
            Self::Unwritable { .. } => "unwritable",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { expected, found } => write!(
                f,
                "holds what pass {found} wrote, not what pass {expected} wrote over it"
            ),
            Self::Torn {
                stale_sectors,
                sectors,
                first,
            } => write!(
                f,
                "{stale_sectors} of {sectors} sectors, the first at byte {first}, are of an earlier pass"
            ),
            Self::Misdirected {
                sectors: 1,
                first,
                belongs_at,
            } => write!(f, "1 sector, at byte {first}, belongs at offset {belongs_at}"),
            Self::Misdirected {
                sectors,
                first,
                belongs_at,
            } => write!(
                f,
                "{sectors} sectors belong elsewhere: the first, at byte {first}, belongs at offset {belongs_at}"
            ),
            Self::Flipped { bits: 1, byte, bit } => write!(f, "bit {bit} of byte {byte} is flipped"),
            Self::Flipped { bits, byte, bit } => {
                write!(
                    f,
                    "{bits} bits are flipped, the first is bit {bit} of byte {byte}"
                )
            }
            Self::Foreign {
                sectors,
                first,
                is_of_another_run,
            } => {
                let what = match is_of_another_run {
                    true => "what another run wrote",
                    false => "nothing that was ever written here",
                };
                write!(f, "{}, from byte {first} on, hold {what}", sectors_of(*sectors))
            }
            Self::Unreadable { error } => write!(f, "cannot be read: {error}"),
            Self::Unwritable { error } => write!(f, "could not be written: {error}"),
        }
    }
}

fn sectors_of(count: u32) -> String {
    match count {
        1 => "1 sector".to_owned(),
        _ => format!("{count} sectors"),
    }
}

/// More wrong bits than these in a sector are no flips: two unrelated sectors differ in half of their 4096 bits.
const MOST_FLIPS: u32 = 256;

/// What one sector is instead of itself.
#[derive(Clone, Copy, Debug)]
enum Difference {
    Stale { generation: u32 },
    From { origin: u64 },
    Flipped { bits: u32, byte: usize, bit: u8 },
    Foreign { is_of_another_run: bool },
}

/// A block as it should be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) run: u64,
    pub(super) offset: u64,
    pub(super) generation: u32,
}

impl Expected {
    /// Makes the bytes of the block.
    pub(super) fn write(&self, block: &mut [u8]) {
        let (sectors, _) = block.as_chunks_mut::<SECTOR_BYTES>();
        for (index, bytes) in (0_u64..).zip(sectors) {
            self.sector(index, self.generation).encode(bytes);
        }
    }

    fn sector(&self, index: u64, generation: u32) -> Sector {
        Sector {
            run: self.run,
            offset: self.offset + index * SECTOR_BYTES as u64,
            generation,
        }
    }

    /// Every fault of the block: at most one of each kind, and one for each distance over which sectors went astray.
    pub(super) fn faults(&self, block: &[u8]) -> Vec<Fault> {
        let (sectors, _) = block.as_chunks::<SECTOR_BYTES>();
        let mut found = Found::default();
        let mut whole = [0; SECTOR_BYTES];
        for (index, bytes) in (0_u64..).zip(sectors) {
            self.sector(index, self.generation).encode(&mut whole);
            if bytes != &whole {
                let at = index as usize * SECTOR_BYTES;
                found.add(at, self.difference(index, bytes));
            }
        }
        found.faults(self.generation, sectors.len() as u32)
    }

    fn difference(&self, index: u64, bytes: &[u8; SECTOR_BYTES]) -> Difference {
        let own = self.sector(index, self.generation);
        match Sector::decode(bytes) {
            Some(sector) if sector.run != self.run => Difference::Foreign {
                is_of_another_run: true,
            },
            Some(sector) if sector.offset != own.offset => Difference::From {
                origin: sector.offset,
            },
            Some(sector) => Difference::Stale {
                generation: sector.generation,
            },
            // Of this pass or an earlier one, with bits that are wrong?
            None => (1..=self.generation)
                .map(|generation| flips(bytes, &self.sector(index, generation)))
                .min_by_key(|(bits, ..)| *bits)
                .filter(|(bits, ..)| *bits <= MOST_FLIPS)
                .map_or(
                    Difference::Foreign {
                        is_of_another_run: false,
                    },
                    |(bits, byte, bit)| Difference::Flipped { bits, byte, bit },
                ),
        }
    }
}

/// How many bits differ from a sector, and the first of them.
fn flips(bytes: &[u8; SECTOR_BYTES], sector: &Sector) -> (u32, usize, u8) {
    let mut whole = [0; SECTOR_BYTES];
    sector.encode(&mut whole);
    let wrong = || bytes.iter().zip(&whole).map(|(one, other)| one ^ other);
    let bits = wrong().map(u8::count_ones).sum();
    let first = wrong().enumerate().find(|(_, wrong)| *wrong != 0);
    let (byte, bit) = first.map_or((0, 0), |(byte, wrong)| (byte, wrong.trailing_zeros() as u8));
    (bits, byte, bit)
}

/// The differences of a block's sectors, by kind.
#[derive(Debug, Default)]
struct Found {
    /// The pass of the first stale sector, whether all are of it, how many there are, and where the first begins.
    stale: Option<(u32, bool, u32, usize)>,
    /// Sectors from elsewhere, those that lie equally far from where they belong together: how many, where the first of them begins,
    /// and where that one belongs.
    from: Vec<(u32, usize, u64)>,
    flipped: Option<(u32, usize, u8)>,
    foreign: Option<(u32, usize, bool)>,
}

impl Found {
    fn add(&mut self, at: usize, difference: Difference) {
        match difference {
            Difference::Stale { generation } => {
                let stale = self.stale.get_or_insert((generation, true, 0, at));
                stale.1 &= stale.0 == generation;
                stale.2 += 1;
            }
            Difference::From { origin } => {
                let shift = |origin: u64, at: usize| origin.wrapping_sub(at as u64);
                let is_of = |&&mut (_, first, of_first): &&mut (u32, usize, u64)| {
                    shift(of_first, first) == shift(origin, at)
                };
                match self.from.iter_mut().find(is_of) {
                    Some((sectors, ..)) => *sectors += 1,
                    None => self.from.push((1, at, origin)),
                }
            }
            Difference::Flipped { bits, byte, bit } => {
                self.flipped.get_or_insert((0, at + byte, bit)).0 += bits;
            }
            Difference::Foreign { is_of_another_run } => {
                self.foreign.get_or_insert((0, at, is_of_another_run)).0 += 1;
            }
        }
    }

    fn faults(self, expected: u32, sectors: u32) -> Vec<Fault> {
        let stale = self.stale.map(|(found, is_one_pass, count, first)| {
            if count == sectors && is_one_pass {
                return Fault::Stale { expected, found };
            }
            Fault::Torn {
                stale_sectors: count,
                sectors,
                first: first as u32,
            }
        });
        let from = self.from.into_iter();
        let from = from.map(|(sectors, first, belongs_at)| Fault::Misdirected {
            sectors,
            first: first as u32,
            belongs_at,
        });
        let flipped = self.flipped.map(|(bits, byte, bit)| Fault::Flipped {
            bits,
            byte: byte as u32,
            bit,
        });
        let foreign = self
            .foreign
            .map(|(sectors, first, is_of_another_run)| Fault::Foreign {
                sectors,
                first: first as u32,
                is_of_another_run,
            });
        stale
            .into_iter()
            .chain(from)
            .chain(flipped)
            .chain(foreign)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    const RUN: u64 = 7;

    fn of(offset: u64) -> Expected {
        Expected {
            run: RUN,
            offset,
            generation: 2,
        }
    }

    fn whole(offset: u64, bytes: usize) -> Vec<u8> {
        let mut block = vec![0; bytes];
        of(offset).write(&mut block);
        block
    }

    #[test]
    fn sectors_of_several_blocks_are_each_counted_to_their_own() {
        let mut block = whole(0, 4096);
        let mut place = |from: u64, sectors: Range<usize>| {
            let bytes = sectors.start * SECTOR_BYTES..sectors.end * SECTOR_BYTES;
            block[bytes.clone()].copy_from_slice(&whole(from, 4096)[bytes]);
        };
        place(8192, 0..2);
        place(4096, 4..5);
        place(8192, 6..7);
        let faults = of(0).faults(&block);
        let misdirected = |sectors, first, belongs_at| Fault::Misdirected {
            sectors,
            first,
            belongs_at,
        };
        assert_eq!(
            faults,
            [misdirected(3, 0, 8192), misdirected(1, 2048, 4096 + 2048)]
        );
    }

    #[test]
    fn a_piece_that_moved_within_its_own_block_is_said_with_both_of_its_places() {
        let mut block = whole(1 << 20, 64 << 10);
        block.copy_within(0..4096, 4096);
        let faults = of(1 << 20).faults(&block);
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            ["8 sectors belong elsewhere: the first, at byte 4096, belongs at offset 1048576"]
        );
    }
}
