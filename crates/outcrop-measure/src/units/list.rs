//! Lists of values as people type them.

/// The first value of a list that already stands in it before.
///
/// ```
/// use outcrop_measure::units::given_twice;
/// assert_eq!(given_twice(&[1, 8, 64, 8, 1]), Some(&8));
/// assert_eq!(given_twice(&[1, 8, 64]), None);
/// ```
pub fn given_twice<T: PartialEq>(all: &[T]) -> Option<&T> {
    let is_known = |(place, value): &(usize, &T)| all[..*place].contains(value);
    all.iter().enumerate().find(is_known).map(|(_, value)| value)
}
