//! What a worker does where connections' buffers are short.

use std::sync::atomic::Ordering;

use super::Worker;
use crate::protocol::seconds::Now;
use crate::server::budget::Standing;
use crate::server::precedence::Moment;

impl Worker {
    /// Keeps buffers within their limit. Silent connections are closed first. Where none is silent and there is no more
    /// memory, it is who has least of a claim: the one whose replies have been unread longest, else `asker`, whose buffers grew.
    pub(super) fn settle(&mut self, asker: Option<usize>, now: Now) {
        let mut has_asked = false;
        loop {
            let standing = self.shared.budget.settle(&self.shared.store, now.second);
            if standing == Standing::Enough {
                break;
            }
            let asker = asker.filter(|&number| self.connections[number].is_some());
            if let Some(holder) = self.silent(asker) {
                self.give_up(holder);
                continue;
            }
            // A worker that was asked asks nobody: it has no asker.
            if asker.is_some() && !has_asked {
                has_asked = true;
                self.ask_others();
            }
            let holder = self.precedence.first_unread().or(asker);
            let Some(holder) = holder.filter(|_| standing == Standing::Spent) else {
                break;
            };
            self.give_up(holder);
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

    /// Who has neither sent nor read anything for long enough to be given up for somebody else.
    fn silent(&self, asker: Option<usize>) -> Option<usize> {
        let now = self.moment.or_later(self.now_ns);
        let is_silent = |progress: Moment| progress.is_past(self.shared.grace_ns, now);
        self.precedence.first_silent(asker, is_silent)
    }

    /// Those that are silent may all be other workers' connections.
    fn ask_others(&self) {
        let mailboxes = self.shared.mailboxes.iter().enumerate();
        mailboxes
            .filter(|(number, _)| *number != self.number)
            .for_each(|(_, mailbox)| mailbox.ring());
    }
}
