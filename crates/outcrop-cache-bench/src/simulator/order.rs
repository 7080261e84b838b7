//! Lists of keys threaded through one table: a key is in at most one list, and leaves it from any place at once. A list
//! knows what its keys weigh together.

/// No key.
const NOBODY: u32 = u32::MAX;
/// In no list.
const NOWHERE: u8 = 0;

/// The neighbours of every key, and the list that it is in.
#[derive(Debug)]
pub(super) struct Links {
    newer: Vec<u32>,
    older: Vec<u32>,
    list: Vec<u8>,
    weight: Vec<u32>,
}

/// One list, from its newest key to its oldest. Numbers of lists start at 1.
#[derive(Debug)]
pub(super) struct List {
    number: u8,
    newest: u32,
    oldest: u32,
    len: usize,
    weight: u64,
}

impl Links {
    pub(super) fn new(key_count: u32) -> Self {
        let count = key_count as usize;
        Self {
            newer: vec![NOBODY; count],
            older: vec![NOBODY; count],
            list: vec![NOWHERE; count],
            weight: vec![1; count],
        }
    }

    /// What a key weighs.
    pub(super) fn weight(&self, key: u32) -> u64 {
        u64::from(self.weight[key as usize])
    }

    /// Sets what a key weighs that is in no list.
    pub(super) fn set_weight(&mut self, key: u32, weight: u32) {
        debug_assert!(!self.has(key));
        self.weight[key as usize] = weight;
    }

    /// Whether the key is in any list.
    pub(super) fn has(&self, key: u32) -> bool {
        self.list[key as usize] != NOWHERE
    }

    /// The key that came in after this one.
    pub(super) fn newer_than(&self, key: u32) -> Option<u32> {
        Some(self.newer[key as usize]).filter(|newer| *newer != NOBODY)
    }
}

impl List {
    pub(super) const fn new(number: u8) -> Self {
        Self {
            number,
            newest: NOBODY,
            oldest: NOBODY,
            len: 0,
            weight: 0,
        }
    }

    pub(super) const fn weight(&self) -> u64 {
        self.weight
    }

    /// Changes what a key of this list weighs.
    pub(super) fn reweigh(&mut self, links: &mut Links, key: u32, weight: u32) {
        debug_assert!(self.has(links, key));
        self.weight = self.weight - links.weight(key) + u64::from(weight);
        links.weight[key as usize] = weight;
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn has(&self, links: &Links, key: u32) -> bool {
        links.list[key as usize] == self.number
    }

    pub(super) fn oldest(&self) -> Option<u32> {
        Some(self.oldest).filter(|oldest| *oldest != NOBODY)
    }

    /// Puts a key that is in no list before all others.
    pub(super) fn push(&mut self, links: &mut Links, key: u32) {
        debug_assert!(!links.has(key));
        let at = key as usize;
        (links.newer[at], links.older[at], links.list[at]) = (NOBODY, self.newest, self.number);
        match self.newest {
            NOBODY => self.oldest = key,
            second => links.newer[second as usize] = key,
        }
        self.newest = key;
        self.len += 1;
        self.weight += links.weight(key);
    }

    /// Takes a key of this list out.
    pub(super) fn remove(&mut self, links: &mut Links, key: u32) {
        debug_assert!(self.has(links, key));
        let at = key as usize;
        let (newer, older) = (links.newer[at], links.older[at]);
        match newer {
            NOBODY => self.newest = older,
            newer => links.older[newer as usize] = older,
        }
        match older {
            NOBODY => self.oldest = newer,
            older => links.newer[older as usize] = newer,
        }
        links.list[at] = NOWHERE;
        self.len -= 1;
        self.weight -= links.weight(key);
    }

    /// Takes the oldest key out.
    pub(super) fn pop(&mut self, links: &mut Links) -> Option<u32> {
        let oldest = self.oldest()?;
        self.remove(links, oldest);
        Some(oldest)
    }
}
