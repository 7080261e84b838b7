//! A store that keeps nothing: with it, the driver measures itself.

use outcrop_measure::metric::Unavailable;

use crate::error::KvError;
use crate::store::{CompactionState, Session, Store, StoreCounters};

const WHY: &str = "the engine `none` keeps nothing";

pub(super) struct Nothing;

impl Store for Nothing {
    fn identity(&self) -> String {
        "none, which keeps nothing".to_owned()
    }

    fn session(&self) -> Result<Box<dyn Session>, KvError> {
        Ok(Box::new(Self))
    }

    fn flush(&self) -> Result<(), KvError> {
        Ok(())
    }

    fn compaction(&self) -> CompactionState {
        CompactionState {
            debt_bytes: Err(Unavailable::because(WHY)),
            is_busy: false,
        }
    }

    fn counters(&self) -> StoreCounters {
        StoreCounters::unavailable(WHY)
    }
}

impl Session for Nothing {
    fn get(&mut self, _: &[u8]) -> Result<Option<&[u8]>, KvError> {
        Ok(None)
    }

    fn put(&mut self, _: &[u8], _: &[u8]) -> Result<(), KvError> {
        Ok(())
    }

    fn delete(&mut self, _: &[u8]) -> Result<(), KvError> {
        Ok(())
    }

    fn scan(&mut self, _: &[u8], _: u32, _: &mut dyn FnMut(&[u8], &[u8])) -> Result<u32, KvError> {
        Ok(0)
    }
}
