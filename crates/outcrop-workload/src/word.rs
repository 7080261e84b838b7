//! Values that are one of a few words, and what to say when a word is none of them.

/// Defines an enum whose variants have one spelling each, shared by plans, flags and records.
///
/// It gives `ALL`, `name`, `Display` and `FromStr`, whose error names the word that was probably meant.
///
/// ```
/// outcrop_workload::words! {
///     /// How warm it is.
///     pub enum Warmth: "warmth" {
///         /// Not at all.
///         Cold = "cold",
///         /// Very.
///         Hot = "hot",
///     }
/// }
/// assert_eq!("hot".parse::<Warmth>()?.name(), "hot");
/// assert_eq!("hto".parse::<Warmth>().unwrap_err().to_string(), "unknown warmth \"hto\"; did you mean `hot`?");
/// # Ok::<(), outcrop_workload::WorkloadError>(())
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* pub enum $name:ident: $what:literal {
        $($(#[$meaning:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$meaning])* $variant,)+
        }

        impl $name {
            /// Every one, in the order of the documentation.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// Its one spelling.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::WorkloadError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.into_iter().find(|one| one.name() == text.trim());
                found.ok_or_else(|| $crate::word::unknown($what, text, &Self::ALL.map(Self::name)))
            }
        }
    };
}

/// The error for a word that is not among the accepted ones.
pub fn unknown(what: &'static str, seen: &str, accepted: &[&str]) -> crate::WorkloadError {
    crate::WorkloadError::UnknownWord {
        what,
        seen: seen.to_owned(),
        hint: hint(seen, accepted),
    }
}

/// "did you mean `x`?" where a word is near, the list of what is accepted otherwise.
pub fn hint(seen: &str, accepted: &[&str]) -> String {
    match nearest(seen, accepted) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("accepted: {}", accepted.join(", ")),
    }
}

/// The word that `seen` is most likely a slip of, if any is near.
///
/// Near is at most two edits (insert, delete, replace, swap of neighbours), three in a word of twelve letters, and fewer than half of the
/// word; or a word that begins or ends with what was seen, if only one does.
pub fn nearest<'k>(seen: &str, accepted: &[&'k str]) -> Option<&'k str> {
    let scored = accepted.iter().map(|name| (edit_distance(seen, name), *name));
    let is_near = |(distance, name): &(usize, &str)| {
        let letters = name.len().max(seen.len());
        let most = if letters >= LONG_LETTERS { 3 } else { 2 };
        *distance <= most && distance * 2 < letters
    };
    let near = scored.filter(is_near).min().map(|(_, name)| name);
    near.or_else(|| {
        let is_part = |name: &&&str| name.starts_with(seen) || name.ends_with(seen);
        let mut longer = accepted
            .iter()
            .filter(|_| seen.len() >= LEAST_PART)
            .filter(is_part);
        longer.next().copied().filter(|_| longer.next().is_none())
    })
}

/// A word of this length may have a third slip.
const LONG_LETTERS: usize = 12;
/// A shorter part of a word says too little.
const LEAST_PART: usize = 4;

/// Optimal string alignment distance over characters.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut rows = vec![vec![0usize; right.len() + 1]; left.len() + 1];
    rows[0] = (0..=right.len()).collect();
    for i in 1..=left.len() {
        rows[i][0] = i;
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            let swapped = i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if swapped {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[left.len()][right.len()]
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-./:=,+%@".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_hand_are_recognised_and_other_words_are_not() {
        let known = ["queue_depth", "jobs", "io_block_size"];
        assert_eq!(nearest("queue_dpeth", &known), Some("queue_depth"));
        assert_eq!(nearest("queuedepth", &known), Some("queue_depth"));
        assert_eq!(nearest("job", &known), Some("jobs"));
        assert_eq!(nearest("colour", &known), None);
        // What is left of a longer name, and three slips in a long one.
        assert_eq!(nearest("block_size", &known), Some("io_block_size"));
        assert_eq!(nearest("io_blok_siez", &known), Some("io_block_size"));
        assert_eq!(nearest("depth", &known), Some("queue_depth"));
        assert_eq!(nearest("size", &["io_block_size", "value_size"]), None);
        assert_eq!(nearest("", &known), None);
    }
}
