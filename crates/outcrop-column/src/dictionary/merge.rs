//! Several collected dictionaries become one: each worker of an encode brings its own.

use std::cmp::Ordering;

use super::interner::SortedValues;

/// The merged dictionary of all workers.
#[derive(Debug)]
pub(crate) struct Merged {
    workers: Vec<SortedValues>,
    /// For each value in byte order, where it can be read.
    places: Vec<Place>,
    /// Rows of each code; the last is null's if there is one.
    pub(crate) counts: Vec<u32>,
    pub(crate) null_count: u64,
    /// For each worker, the final code of each provisional one.
    pub(crate) codes: Vec<Vec<u32>>,
}

/// A value of a worker, with its leading bytes so that most comparisons stay in one array.
#[derive(Debug, Clone, Copy)]
struct Place {
    leading: u64,
    worker: u32,
    code: u32,
}

impl Merged {
    /// Distinct values, null not counted.
    pub(crate) fn value_count(&self) -> usize {
        self.places.len()
    }

    /// Values in byte order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.places
            .iter()
            .map(|place| self.workers[place.worker as usize].value(place.code))
    }

    /// Frees the values: only counts and code maps are needed after the dictionary is written.
    pub(crate) fn forget_values(&mut self) {
        self.workers.clear();
        self.places = Vec::new();
    }
}

/// Merges the workers' values.
pub(crate) fn merge(workers: Vec<SortedValues>) -> Merged {
    let mut places: Vec<Place> = Vec::new();
    for (index, worker) in (0_u32..).zip(&workers) {
        let own = worker.order.iter().map(|&(leading, code)| Place {
            leading,
            worker: index,
            code,
        });
        places = merge_two(places, own.collect(), &workers);
    }
    let null_count = workers
        .iter()
        .filter_map(|worker| worker.null)
        .map(|(_, count)| count)
        .sum();
    let mut codes: Vec<Vec<u32>> = workers
        .iter()
        .map(|worker| vec![0; worker.code_count()])
        .collect();
    let mut counts = Vec::new();
    let mut distinct: Vec<Place> = Vec::new();
    for place in places {
        let same = distinct
            .last()
            .is_some_and(|last| compare(last, &place, &workers) == Ordering::Equal);
        if !same {
            distinct.push(place);
            counts.push(0);
        }
        let code = distinct.len() - 1;
        codes[place.worker as usize][place.code as usize] = code as u32;
        counts[code] += workers[place.worker as usize].counts[place.code as usize];
    }
    for (worker, codes) in workers.iter().zip(&mut codes) {
        if let Some((provisional, _)) = worker.null {
            codes[provisional as usize] = distinct.len() as u32;
        }
    }
    if null_count > 0 {
        counts.push(null_count as u32);
    }
    Merged {
        workers,
        places: distinct,
        counts,
        null_count,
        codes,
    }
}

fn compare(a: &Place, b: &Place, workers: &[SortedValues]) -> Ordering {
    let value = |place: &Place| workers[place.worker as usize].value(place.code);
    a.leading.cmp(&b.leading).then_with(|| value(a).cmp(value(b)))
}

fn merge_two(left: Vec<Place>, right: Vec<Place>, workers: &[SortedValues]) -> Vec<Place> {
    if left.is_empty() {
        return right;
    }
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
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
