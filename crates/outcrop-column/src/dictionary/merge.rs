//! Several collected dictionaries become one: each worker of an encode brings its own.

use std::cmp::Ordering;
use std::ops::Range;

use super::key::short_value;
use super::sorted::{SortedValues, is_long};
use crate::huge::HugeMap;

/// The merged dictionary of all workers.
#[derive(Debug)]
pub(crate) struct Merged {
    workers: Vec<SortedValues>,
    /// For each value in byte order, where it can be read.
    places: Places,
    /// Rows of each code; the last is null's if there is one.
    pub(crate) counts: Vec<u32>,
    pub(crate) null_count: u64,
    /// For each worker, the final code of each provisional one.
    pub(crate) codes: Vec<HugeMap>,
}

/// A value of a worker: its sort key, which is the value itself where it is short, and its
/// provisional code in the low 32 bits.
#[derive(Debug, Clone, Copy)]
struct Place {
    key_and_code: u128,
    worker: u32,
}

impl Place {
    fn code(self) -> u32 {
        self.key_and_code as u32
    }

    fn key(self) -> u128 {
        self.key_and_code >> 32
    }
}

/// Places in the order of their values, as two arrays: a [`Place`] is 32 bytes, of which 12 are padding.
#[derive(Debug, Default)]
struct Places {
    keys_and_codes: Vec<u128>,
    /// The worker of each; empty where there is only one.
    workers: Vec<u32>,
}

impl Places {
    fn get(&self, index: usize) -> Place {
        Place {
            key_and_code: self.keys_and_codes[index],
            worker: self.workers.get(index).copied().unwrap_or(0),
        }
    }

    fn push(&mut self, place: Place) {
        self.keys_and_codes.push(place.key_and_code);
        self.workers.push(place.worker);
    }

    fn len(&self) -> usize {
        self.keys_and_codes.len()
    }
}

impl Merged {
    /// Distinct values, null not counted.
    pub(crate) fn value_count(&self) -> usize {
        self.places.len()
    }

    /// Calls `action` with each of these values, which are in byte order.
    pub(crate) fn for_each_value(&self, of: Range<usize>, mut action: impl FnMut(&[u8])) {
        for index in of {
            let place = self.places.get(index);
            match short_value(place.key()) {
                Some((bytes, length)) => action(&bytes[..length]),
                None => action(self.workers[place.worker as usize].long_value(place.code())),
            }
        }
    }

    /// Bytes of the values, and of the values of all rows.
    pub(crate) fn value_bytes(&self) -> (usize, u64) {
        let length = |index: usize| {
            let place = self.places.get(index);
            match short_value(place.key()) {
                Some((_, length)) => length,
                None => self.workers[place.worker as usize].long_value(place.code()).len(),
            }
        };
        let sum = |(distinct, rows): (usize, u64), (length, &count): (usize, &u32)| {
            (distinct + length, rows + length as u64 * u64::from(count))
        };
        let lengths = (0..self.places.len()).map(length);
        lengths.zip(&self.counts).fold((0, 0), sum)
    }

    /// Frees the values: only counts and code maps are needed after the dictionary is written.
    pub(crate) fn forget_values(&mut self) {
        self.workers = Vec::new();
        self.places = Places::default();
    }
}

/// Values whose counts are on their way while one is merged: they are in no order.
const VALUES_AHEAD: usize = 16;

/// The values of one worker that are not merged yet.
struct Cursor<'a> {
    index: u32,
    worker: &'a SortedValues,
    next: usize,
    /// The final code of each provisional one.
    codes: HugeMap,
}

impl Cursor<'_> {
    fn head(&self) -> Option<Place> {
        let &key_and_code = self.worker.order.get(self.next)?;
        Some(Place {
            key_and_code,
            worker: self.index,
        })
    }

    /// Goes on behind the head, which has this final code; gives its rows.
    fn take(&mut self, head: Place, code: u32) -> u32 {
        self.codes.set(head.code(), code);
        self.next += 1;
        if let Some(&later) = self.worker.order.get(self.next + VALUES_AHEAD) {
            self.worker.counts.prefetch(later as u32);
            self.codes.prefetch(later as u32);
        }
        self.worker.counts.get(head.code())
    }
}

/// Merges the workers' values. *Cost*: a comparison a value and worker; workers are as few as processors.
pub(crate) fn merge(mut workers: Vec<SortedValues>) -> Merged {
    match workers.as_mut_slice() {
        [_] => of_one(workers.swap_remove(0)),
        _ => of_several(workers),
    }
}

/// The values of one worker are in order as they are.
fn of_one(mut only: SortedValues) -> Merged {
    let order = std::mem::take(&mut only.order);
    let mut codes = HugeMap::zeroed(only.counts.len());
    let mut counts = Vec::with_capacity(order.len() + 1);
    for (index, &key_and_code) in order.iter().enumerate() {
        if let Some(&later) = order.get(index + VALUES_AHEAD) {
            only.counts.prefetch(later as u32);
            codes.prefetch(later as u32);
        }
        codes.set(key_and_code as u32, index as u32);
        counts.push(only.counts.get(key_and_code as u32));
    }
    let null_count = only.null.map_or(0, |(provisional, count)| {
        codes.set(provisional, order.len() as u32);
        count
    });
    if null_count > 0 {
        counts.push(null_count as u32);
    }
    let places = Places {
        keys_and_codes: order,
        workers: Vec::new(),
    };
    Merged {
        workers: vec![only],
        places,
        counts,
        null_count,
        codes: vec![codes],
    }
}

fn of_several(workers: Vec<SortedValues>) -> Merged {
    let mut cursors: Vec<Cursor<'_>> = (0..)
        .zip(&workers)
        .map(|(index, worker)| Cursor {
            index,
            worker,
            next: 0,
            codes: HugeMap::zeroed(worker.counts.len()),
        })
        .collect();
    let fewest = workers.iter().map(|worker| worker.order.len()).max().unwrap_or(0);
    let mut counts = Vec::with_capacity(fewest + 1);
    let mut places = Places {
        keys_and_codes: Vec::with_capacity(fewest),
        workers: Vec::with_capacity(fewest),
    };
    let least_of = |cursors: &[Cursor<'_>]| {
        let heads = cursors.iter().filter_map(Cursor::head);
        heads.min_by(|a, b| compare(a, b, &workers))
    };
    while let Some(least) = least_of(&cursors) {
        let mut count = 0;
        for cursor in &mut cursors {
            if let Some(head) = cursor.head()
                && compare(&head, &least, &workers) == Ordering::Equal
            {
                count += cursor.take(head, places.len() as u32);
            }
        }
        places.push(least);
        counts.push(count);
    }
    let mut null_count = 0;
    for cursor in &mut cursors {
        if let Some((provisional, count)) = cursor.worker.null {
            cursor.codes.set(provisional, places.len() as u32);
            null_count += count;
        }
    }
    if null_count > 0 {
        counts.push(null_count as u32);
    }
    let codes = cursors.into_iter().map(|cursor| cursor.codes).collect();
    Merged {
        workers,
        places,
        counts,
        null_count,
        codes,
    }
}

fn compare(a: &Place, b: &Place, workers: &[SortedValues]) -> Ordering {
    let value = |place: &Place| workers[place.worker as usize].long_value(place.code());
    match a.key().cmp(&b.key()) {
        Ordering::Equal if is_long(a.key()) => value(a).cmp(value(b)),
        order => order,
    }
}
