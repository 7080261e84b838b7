//! Who may use the server: names and passwords from a file, as memcached's `-Y` has them.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use outcrop_probe::user_file;

use crate::error::CacheError;

/// More users are a mistake.
const MOST_USERS: usize = 8;
/// Comments have no place in the file, so a longer one is something else.
const MOST_FILE_BYTES: u64 = 256 << 10;

/// Failures that typing errors explain: they cost nothing, and each further batch of this size costs a second.
const FAILURES_PER_SECOND: u32 = 8;
/// The longest wait, so that a user who knows the password gets in while somebody else guesses.
const LONGEST_WAIT_S: u32 = 10;
/// A connection is closed after this many failures.
const MOST_FAILURES: u8 = 3;

/// The users of a server, each as `name:password`.
pub(crate) struct Logins {
    users: Vec<User>,
    recent: Mutex<Recent>,
}

/// What somebody may give to be admitted.
struct User {
    /// `name:password`.
    login: Secret,
    password: Secret,
}

/// The longest line `name:password`.
const MOST_BYTES: usize = 512;

/// Bytes among so many that a comparison takes the same time whatever they are and however many count.
#[derive(Clone)]
struct Secret {
    bytes: [u8; MOST_BYTES],
    len: usize,
}

impl Secret {
    /// What is longer than any secret keeps its length, and so is none.
    fn of(text: &[u8]) -> Self {
        let mut bytes = [0; MOST_BYTES];
        let kept = text.len().min(MOST_BYTES);
        bytes[..kept].copy_from_slice(&text[..kept]);
        Self {
            bytes,
            len: text.len(),
        }
    }

    /// Bytes in which they differ: all are looked at.
    fn differences(&self, other: &Self) -> usize {
        let pairs = self.bytes.iter().zip(&other.bytes);
        pairs
            .map(|(one, other)| usize::from(std::hint::black_box(one ^ other) != 0))
            .sum()
    }

    fn is(&self, other: &Self) -> bool {
        std::hint::black_box(self.differences(other) + (self.len ^ other.len)) == 0
    }
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
        let text = user_file::read(path, MOST_FILE_BYTES, "a list of logins");
        let text = text.map_err(|error| refuse(error.to_string()))?;
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
            if line.len() > MOST_BYTES {
                return Err(refuse(format!(
                    "line {} has {} bytes; expected at most {MOST_BYTES}",
                    number + 1,
                    line.len()
                )));
            }
            users.push(User::of(line));
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
        let given = Secret::of(&[name, b":", password].concat());
        self.count(&given, |user| &user.login) > 0
    }

    /// True for any user's password.
    pub(crate) fn admit_token(&self, token: &[u8]) -> bool {
        self.count(&Secret::of(token), |user| &user.password) > 0
    }

    /// How many users this is the secret of: all are compared, whatever the first ones say.
    fn count(&self, given: &Secret, secret: impl Fn(&User) -> &Secret) -> usize {
        let found = self.users.iter().map(|user| usize::from(secret(user).is(given)));
        found.sum()
    }
}

impl User {
    /// From a line `name:password`.
    fn of(line: &[u8]) -> Self {
        let colon = line.iter().position(|&byte| byte == b':').unwrap_or(0);
        Self {
            login: Secret::of(line),
            password: Secret::of(&line[colon + 1..]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_make_all_wait_and_time_forgives_them() {
        let logins = Logins {
            users: vec![User::of(b"anna:secret")],
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
    fn a_comparison_looks_at_every_byte_and_at_every_user_whatever_it_has_seen() {
        let secret = Secret::of(&[b'x'; MOST_BYTES]);
        assert_eq!(secret.differences(&Secret::of(b"")), MOST_BYTES);
        assert_eq!(secret.differences(&Secret::of(&[b'y'; 3])), MOST_BYTES);
        let mut last = [b'x'; MOST_BYTES];
        last[MOST_BYTES - 1] = b'y';
        assert_eq!(secret.differences(&Secret::of(&last)), 1);
        assert!(secret.is(&secret.clone()) && !secret.is(&Secret::of(&last)));
        // What follows the end counts for nothing, but the end does.
        for other in [&b"ab\0"[..], b"a", b"", &[b'x'; MOST_BYTES + 1]] {
            assert!(!Secret::of(b"ab").is(&Secret::of(other)));
            assert!(!secret.is(&Secret::of(other)));
        }
        let logins = Logins {
            users: [b"anna:same", b"bert:same", b"cleo:same"]
                .map(|line| User::of(line))
                .into(),
            recent: Mutex::default(),
        };
        assert_eq!(logins.count(&Secret::of(b"same"), |user| &user.password), 3);
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
        let long = format!("anna:{}\n", "x".repeat(MOST_BYTES));
        for wrong in ["", "\n", "anna\n", ":x\n", "anna:\n", &long] {
            std::fs::write(&path, wrong).expect("a file");
            assert!(Logins::read(&path).is_err(), "{wrong:?}");
        }
    }
}
