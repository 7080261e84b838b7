//! Seconds as the store counts them, and as clients do.

/// Expiry times above thirty days are dates.
const LONGEST_RELATIVE_S: i64 = 60 * 60 * 24 * 30;

/// One moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Now {
    /// Of the store's clock, which starts at 2 with the server, so that 1 has always passed.
    pub(crate) second: u32,
    /// Unix time at second 0.
    pub(crate) epoch_unix_s: i64,
}

impl Now {
    /// A moment from a client's number: 0 for never, up to thirty days from now, else a date; what has passed ends at once.
    pub(crate) fn expiry(self, given: i64) -> u32 {
        if given == 0 {
            return 0;
        }
        if given < 0 {
            return 1;
        }
        let second = if given > LONGEST_RELATIVE_S {
            given - self.epoch_unix_s
        } else {
            given + i64::from(self.second)
        };
        second.clamp(1, i64::from(u32::MAX)) as u32
    }

    /// Seconds until `expiry`; 0 where that has passed, -1 for never.
    pub(crate) fn left(self, expiry: u32) -> i64 {
        if expiry == 0 {
            -1
        } else {
            i64::from(expiry.saturating_sub(self.second))
        }
    }

    /// Unix time now.
    pub(crate) fn unix_s(self) -> i64 {
        self.epoch_unix_s + i64::from(self.second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_is_relative_up_to_thirty_days_and_a_date_beyond() {
        let now = Now {
            second: 100,
            epoch_unix_s: 1_800_000_000,
        };
        assert_eq!(now.expiry(0), 0);
        assert_eq!(now.expiry(5), 105);
        assert_eq!(now.expiry(-1), 1);
        assert_eq!(now.expiry(LONGEST_RELATIVE_S), 100 + LONGEST_RELATIVE_S as u32);
        assert_eq!(now.expiry(LONGEST_RELATIVE_S + 1), 1);
        assert_eq!(now.expiry(1_800_000_500), 500);
        assert_eq!(now.expiry(i64::MAX), u32::MAX);
        assert_eq!((now.left(0), now.left(130), now.left(1)), (-1, 30, 0));
    }
}
