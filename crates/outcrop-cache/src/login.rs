//! Who may use the server: names and passwords from a file, as memcached's `-Y` has them.

use std::path::{Path, PathBuf};

use crate::error::CacheError;

/// More users are a mistake.
const MOST_USERS: usize = 8;

/// The users of a server, each as `name:password`.
#[derive(Clone)]
pub(crate) struct Logins {
    users: Vec<Vec<u8>>,
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
        Ok(Self { users })
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
