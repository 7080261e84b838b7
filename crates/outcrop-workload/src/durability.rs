//! When writes to a device are made durable: `none`, `each`, `every:8`, `each:fsync`, `dsync`.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::error::WorkloadError;
use crate::spelling::{Spelling, form_and_argument};

/// The call that makes what was written durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SyncCall {
    /// The data, and of the metadata only what reading them needs.
    #[default]
    Fdatasync,
    /// All metadata too.
    Fsync,
}

/// When writes become durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// When the device sees fit.
    #[default]
    None,
    /// A call follows every so many writes of a job, and belongs to the last of them.
    After {
        /// How many.
        writes: NonZeroU32,
        /// Which call.
        call: SyncCall,
    },
    /// Each write completes only when it is durable, as with O_DSYNC.
    Dsync,
}

const ACCEPTED: &str = "`none`, `each` (fdatasync after every write), `every:8` (after every eighth), either with `:fsync`, or `dsync` \
     (O_DSYNC)";

impl Durability {
    /// A call after every write.
    pub const fn each(call: SyncCall) -> Self {
        Self::After {
            writes: NonZeroU32::MIN,
            call,
        }
    }

    /// Whether nothing is asked for.
    pub const fn is_none(self) -> bool {
        matches!(self, Self::None)
    }
}

impl FromStr for Durability {
    type Err = WorkloadError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let spelling = Spelling {
            what: "sync",
            accepted: ACCEPTED,
            seen: text,
        };
        let call = |argument: Option<&str>| match argument {
            None | Some("fdatasync") => Ok(SyncCall::Fdatasync),
            Some("fsync") => Ok(SyncCall::Fsync),
            Some(_) => Err(spelling.not_understood()),
        };
        match form_and_argument(text) {
            ("none", None) => Ok(Self::None),
            ("dsync", None) => Ok(Self::Dsync),
            ("each", argument) => Ok(Self::each(call(argument)?)),
            ("every", Some(argument)) => {
                let (count, argument) = form_and_argument(argument);
                let writes = count
                    .parse()
                    .map_err(|_| spelling.out_of_range("N must be a whole number from 1 to 4294967295"))?;
                Ok(Self::After {
                    writes,
                    call: call(argument)?,
                })
            }
            _ => Err(spelling.not_understood()),
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (writes, call) = match self {
            Self::None => return f.write_str("none"),
            Self::Dsync => return f.write_str("dsync"),
            Self::After { writes, call } => (writes.get(), call),
        };
        match writes {
            1 => f.write_str("each")?,
            _ => write!(f, "every:{writes}")?,
        }
        match call {
            SyncCall::Fdatasync => Ok(()),
            SyncCall::Fsync => f.write_str(":fsync"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_write_has_one_spelling_and_nonsense_has_none() {
        for (text, spelled) in [
            ("every:1", "each"),
            ("each:fdatasync", "each"),
            ("every:1:fsync", "each:fsync"),
            (" every : 64 ", "every:64"),
        ] {
            assert_eq!(text.parse::<Durability>().unwrap().to_string(), spelled);
        }
        for text in [
            "",
            "every",
            "every:0",
            "every:-1",
            "each:8",
            "dsync:1",
            "none:1",
            "every:8:sync",
            "fsync",
        ] {
            let message = text.parse::<Durability>().unwrap_err().to_string();
            assert!(message.contains("sync"), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(writes in 1_u32.., is_fsync: bool, form in 0..3) {
            let call = if is_fsync { SyncCall::Fsync } else { SyncCall::Fdatasync };
            let durability = match form {
                0 => Durability::None,
                1 => Durability::Dsync,
                _ => Durability::After { writes: NonZeroU32::new(writes).unwrap(), call },
            };
            prop_assert_eq!(durability.to_string().parse::<Durability>().unwrap(), durability);
        }

        #[test]
        fn any_text_is_no_panic(text in "\\PC*") {
            let _ = text.parse::<Durability>();
        }
    }
}
