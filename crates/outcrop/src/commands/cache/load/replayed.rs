//! What would have replayed more of a trace.

/// Which option to leave out, where one ended the replay, and not an interrupt.
pub(super) const fn more(is_interrupted: bool, has_requests: bool, is_timed: bool) -> &'static str {
    match (is_interrupted, has_requests, is_timed) {
        (false, true, _) => "; without --requests all are",
        (false, false, true) => "; without --duration all are",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::more;

    #[test]
    fn the_option_that_ended_a_replay_is_named_and_of_one_that_was_interrupted_none_is() {
        assert_eq!(more(false, true, false), "; without --requests all are");
        assert_eq!(more(false, false, true), "; without --duration all are");
        for (has_requests, is_timed) in [(false, false), (true, false), (false, true)] {
            assert_eq!(more(true, has_requests, is_timed), "");
        }
    }
}
