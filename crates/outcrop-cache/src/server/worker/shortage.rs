//! What a worker does where connections' buffers are short.

use std::sync::atomic::Ordering;

use super::Worker;
use crate::protocol::seconds::Now;
use crate::server::budget::Standing;
use crate::server::precedence::Holding;

impl Worker {
    /// Keeps buffers within their limit. Silent connections are closed first; `asker`, whose buffers grew, is closed only
    /// where none is silent and there is no more memory.
    pub(super) fn settle(&mut self, mut asker: Option<usize>, now: Now) {
        loop {
            let standing = self.shared.budget.settle(&self.shared.store, now.second);
            if standing == Standing::Enough {
                break;
            }
            if let Some(holder) = self.silent(asker) {
                self.give_up(holder);
                continue;
            }
            let Some(asker) = asker.take().filter(|&number| self.connections[number].is_some()) else {
                break;
            };
            // A worker that was asked asks nobody: it has no asker.
            self.ask_others();
            if standing == Standing::Short {
                break;
            }
            self.give_up(asker);
        }
        self.shared
            .service
            .buffer_bytes
            .store(self.shared.budget.held_bytes(), Ordering::Relaxed);
    }

    fn give_up(&mut self, holder: usize) {
        self.counters().overdrawn.add(1);
        self.close(holder);
    }

    /// Who does not read replies, or has sent nothing of a request for long enough to be given up for somebody else.
    fn silent(&self, asker: Option<usize>) -> Option<usize> {
        let is_silent = |(holding, number): &(Holding, usize)| {
            *holding == Holding::Replies
                || self.connections[*number]
                    .as_ref()
                    .is_some_and(|one| one.progress.at_ns + self.shared.grace_ns <= self.now_ns)
        };
        self.precedence
            .firsts(asker)
            .find(is_silent)
            .map(|(_, number)| number)
    }

    /// Those that are silent may all be other workers' connections.
    fn ask_others(&self) {
        let mailboxes = self.shared.mailboxes.iter().enumerate();
        mailboxes
            .filter(|(number, _)| *number != self.number)
            .for_each(|(_, mailbox)| mailbox.ring());
    }
}
