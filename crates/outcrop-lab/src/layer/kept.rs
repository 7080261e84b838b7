//! What is dear to make and is kept for later trials.

use std::collections::VecDeque;
use std::rc::Rc;

/// Bytes that are kept; what has gone is made anew, the same.
const KEPT_BYTES: usize = 512 << 20;

/// Data by key, the most recently used first, up to a number of bytes.
#[derive(Debug)]
pub(super) struct Kept<T> {
    bytes_of: fn(&T) -> usize,
    newest_first: VecDeque<(String, Rc<T>)>,
}

impl<T> Kept<T> {
    pub(super) const fn new(bytes_of: fn(&T) -> usize) -> Self {
        Self {
            bytes_of,
            newest_first: VecDeque::new(),
        }
    }

    /// The data of a key, made where they are not kept.
    pub(super) fn get_or_make<E>(
        &mut self,
        key: &str,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Rc<T>, E> {
        let place = self.newest_first.iter().position(|(known, _)| known == key);
        let found = match place.and_then(|place| self.newest_first.remove(place)) {
            Some((_, found)) => found,
            None => Rc::new(make()?),
        };
        self.newest_first.push_front((key.to_owned(), Rc::clone(&found)));
        while self.newest_first.len() > 1 && self.bytes() > KEPT_BYTES {
            self.newest_first.pop_back();
        }
        Ok(found)
    }

    fn bytes(&self) -> usize {
        self.newest_first
            .iter()
            .map(|(_, kept)| (self.bytes_of)(kept))
            .sum()
    }
}
