//! Several collected dictionaries become one: each worker of an encode brings its own.

use std::cmp::Ordering;

use super::key::short_value;
use super::sorted::{SortedValues, is_long};
use crate::huge::HugeMap;

/// The merged dictionary of all workers.
#[derive(Debug)]
pub(crate) struct Merged {
    workers: Vec<SortedValues>,
    /// For each value in byte order, where it can be read.
    places: Vec<Place>,
    /// Rows of each code; the last is null's if there is one.
    pub(crate) counts: Vec<u32>,
    pub(crate) null_count: u64,
    /// For each worker and epoch, the final code of each provisional one.
    pub(crate) codes: Vec<Vec<HugeMap>>,
}

/// A value of a worker: its sort key, which is the value itself where it is short, and its provisional code in the low 32 bits.
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

impl Merged {
    /// Distinct values, null not counted.
    pub(crate) fn value_count(&self) -> usize {
        self.places.len()
    }

    /// Calls `action` with each value in byte order, until it fails.
    pub(crate) fn for_each_value<E>(&self, mut action: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        self.places
            .iter()
            .try_for_each(|place| match short_value(place.key()) {
                Some((bytes, length)) => action(&bytes[..length]),
                None => action(self.workers[place.worker as usize].long_value(place.code())),
            })
    }

    /// Bytes of the values, and of the values of all rows.
    pub(crate) fn value_bytes(&self) -> (usize, u64) {
        let length = |place: &Place| match short_value(place.key()) {
            Some((_, length)) => length,
            None => self.workers[place.worker as usize].long_value(place.code()).len(),
        };
        let sum = |(distinct, rows): (usize, u64), (length, &count): (usize, &u32)| {
            (distinct + length, rows + length as u64 * u64::from(count))
        };
        self.places.iter().map(length).zip(&self.counts).fold((0, 0), sum)
    }

    /// Frees the values: only counts and code maps are needed after the dictionary is written.
    pub(crate) fn forget_values(&mut self) {
        self.workers = Vec::new();
        self.places = Vec::new();
    }
}

/// Merges the workers' values.
pub(crate) fn merge(workers: Vec<SortedValues>) -> Merged {
    let mut places: Vec<Place> = Vec::new();
    for (index, worker) in (0_u32..).zip(&workers) {
        let own = worker.order.iter().map(|&key_and_code| Place {
            key_and_code,
            worker: index,
        });
        places = merge_two(places, own, &workers);
    }
    let null_count = workers
        .iter()
        .filter_map(|worker| worker.null)
        .map(|(_, count)| count)
        .sum();
    let mut codes: Vec<Vec<u32>> = workers
        .iter()
        .map(|worker| vec![0; worker.counts.len()])
        .collect();
    let mut counts = Vec::with_capacity(places.len() + 1);
    let mut distinct: Vec<Place> = Vec::with_capacity(places.len());
    for place in places {
        let same = distinct
            .last()
            .is_some_and(|last| compare(last, &place, &workers) == Ordering::Equal);
        if !same {
            distinct.push(place);
            counts.push(0);
        }
        let (worker, provisional) = (place.worker as usize, place.code() as usize);
        let code = distinct.len() - 1;
        codes[worker][provisional] = code as u32;
        counts[code] += workers[worker].counts[provisional];
    }
    for (worker, codes) in workers.iter().zip(&mut codes) {
        if let Some((provisional, _)) = worker.null {
            codes[provisional as usize] = distinct.len() as u32;
        }
    }
    if null_count > 0 {
        counts.push(null_count as u32);
    }
    let codes = workers
        .iter()
        .zip(&codes)
        .map(|(worker, last)| worker.maps_of_epochs(last))
        .collect();
    Merged {
        workers,
        places: distinct,
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

fn merge_two(
    left: Vec<Place>,
    right: impl ExactSizeIterator<Item = Place>,
    workers: &[SortedValues],
) -> Vec<Place> {
    if left.is_empty() {
        return right.collect();
    }
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if compare(a, b, workers) == Ordering::Greater {
            right.next()
        } else {
            left.next()
        };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    merged
}
