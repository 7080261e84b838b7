//! Who may use the server: names and passwords from a file, as memcached's `-Y` has them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::error::CacheError;

/// More users are a mistake.
const MOST_USERS: usize = 8;

/// Failures that typing errors explain: they cost nothing, and each further batch of this size costs a second.
const FAILURES_PER_SECOND: u32 = 8;
/// The longest wait, so that a user who knows the password gets in while somebody else guesses.
const LONGEST_WAIT_S: u32 = 10;
/// A connection is closed after this many failures.
const MOST_FAILURES: u8 = 3;

/// The users of a server, each as `name:password`.
pub(crate) struct Logins {
    users: Vec<Vec<u8>>,
    recent: Mutex<Recent>,
}

/// Failed logins of all connections, less one for each second since.
#[derive(Clone, Copy, Debug, Default)]
struct Recent {
    failures: u32,
    second: u32,
}

impl Recent {
    const fn at(self, second: u32) -> Self {
        Self {
            failures: self.failures.saturating_sub(second.saturating_sub(self.second)),
            second,
        }
    }
}

/// What a connection did to log in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attempts {
    /// Second from which the login at hand may be looked at; 0 when there is none.
    due: u32,
    failures: u8,
}

impl Attempts {
    /// True while the login at hand has to wait: right and wrong ones alike, and before anybody has looked, so that
    /// hanging up early tells nothing.
    pub(crate) fn must_wait(&mut self, logins: &Logins, second: u32) -> bool {
        if self.due == 0 {
            self.due = second + logins.wait_s(second);
        }
        if second < self.due {
            return true;
        }
        self.due = 0;
        false
    }

    /// Counts a failure; true when the connection has to end.
    pub(crate) fn fail(&mut self, logins: &Logins, second: u32) -> bool {
        logins.failed(second);
        self.failures += 1;
        self.failures >= MOST_FAILURES
    }
}

impl std::fmt::Debug for Logins {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No password in any log.
        write!(f, "Logins of {} users", self.users.len())
    }
}

impl Logins {
    /// Reads a file with a line `name:password` for each user.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is something else.
    pub(crate) fn read(path: &Path) -> Result<Self, CacheError> {
        let refuse = |problem: String| CacheError::Configuration {
            path: PathBuf::from(path),
            problem,
        };
        let text = std::fs::read(path).map_err(|error| refuse(error.to_string()))?;
        let mut users = Vec::new();
        for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let colon = line.iter().position(|&byte| byte == b':');
            if !colon.is_some_and(|at| at > 0 && at + 1 < line.len()) {
                // The line is not shown: it may be a password.
                return Err(refuse(format!("line {} is not `name:password`", number + 1)));
            }
            users.push(line.to_vec());
        }
        if users.is_empty() || users.len() > MOST_USERS {
            let seen = users.len();
            return Err(refuse(format!(
                "{seen} users; expected 1 to {MOST_USERS} lines `name:password`"
            )));
        }
        Ok(Self {
            users,
            recent: Mutex::default(),
        })
    }

    /// Seconds that a login waits before it is looked at, by how many have failed of late.
    fn wait_s(&self, second: u32) -> u32 {
        let recent = self
            .recent
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .at(second);
        recent.failures / FAILURES_PER_SECOND
    }

    fn failed(&self, second: u32) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        *recent = recent.at(second);
        recent.failures = (recent.failures + 1).min(FAILURES_PER_SECOND * LONGEST_WAIT_S);
    }

    /// True for a name and its password.
    pub(crate) fn admit(&self, name: &[u8], password: &[u8]) -> bool {
        let given = [name, b":", password].concat();
        // All are compared whatever the first ones say.
        self.users
            .iter()
            .fold(false, |admitted, user| admitted | is_same(user, &given))
    }

    /// True for any user's password.
    pub(crate) fn admit_token(&self, token: &[u8]) -> bool {
        self.users.iter().fold(false, |admitted, user| {
            let colon = user.iter().position(|&byte| byte == b':').unwrap_or(0);
            admitted | is_same(&user[colon + 1..], token)
        })
    }
}

/// Compares in a time that does not tell where they differ.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let differing = one
        .iter()
        .zip(other)
        .fold(0, |sum, (one, other)| sum | (one ^ other));
    std::hint::black_box(differing) == 0 && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_make_all_wait_and_time_forgives_them() {
        let logins = Logins {
            users: vec![b"anna:secret".to_vec()],
            recent: Mutex::default(),
        };
        let wait_s = |second| {
            let mut attempts = Attempts::default();
            (second..)
                .take_while(|&second| attempts.must_wait(&logins, second))
                .count()
        };
        let mut one = Attempts::default();
        assert_eq!(
            [10, 10, 10].map(|second| one.fail(&logins, second)),
            [false, false, true]
        );
        assert_eq!(wait_s(10), 0);
        (0..5).for_each(|_| logins.failed(10));
        assert_eq!([10, 11, 30].map(wait_s), [1, 0, 0]);
        (0..1_000_000).for_each(|_| logins.failed(40));
        assert_eq!([40, 48, 120, 39].map(wait_s), [10, 9, 0, 10]);
    }

    #[test]
    fn only_names_with_their_own_passwords_are_admitted_and_tokens_are_passwords() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("users");
        std::fs::write(&path, "anna:pass:word\n\nbert: x \n").expect("a file");
        let logins = Logins::read(&path).expect("two users");
        assert!(logins.admit(b"anna", b"pass:word") && logins.admit(b"bert", b" x"));
        assert!(logins.admit_token(b"pass:word") && !logins.admit_token(b"word"));
        for (name, password) in [
            ("anna", "pass:wor"),
            ("anna", ""),
            ("anna", " x"),
            ("", "pass:word"),
            ("ann", "a:pass:word"),
        ] {
            assert!(
                !logins.admit(name.as_bytes(), password.as_bytes()),
                "{name} {password}"
            );
        }
        for wrong in ["", "\n", "anna\n", ":x\n", "anna:\n"] {
            std::fs::write(&path, wrong).expect("a file");
            assert!(Logins::read(&path).is_err(), "{wrong:?}");
        }
    }
}
