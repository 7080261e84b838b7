//! Plain text, kernels and techniques as factors of the column layer: which cells they make, and what trials say of them.

use outcrop_schema::column;

use super::columns::PLAN;
use super::scene::{assert_complete, directory, factor, plan_set, run_to_the_end, start};

#[test]
fn kernels_techniques_and_plain_text_are_factors_of_cells_that_they_have_an_effect_on() {
    let (runs, data) = (directory(), directory());
    let text = PLAN
        .replace("[\"in-memory\", \"on-disk\"]", "[\"in-memory\"]")
        .replace("[\"encode\", \"decode\", \"scan\", \"equality\", \"prefix\", \"range\", \"get\"]", "[\"encode\", \"equality\"]")
        .replace("threads = [1, 2]", "kernels = [\"scalar\", \"avx512\"]\nwithout = [\"nothing\", \"classes\"]\nformat = [\"ocol\", \"none\"]");
    let set = plan_set(&text, data.path());
    let cells = |name: &str, value: &str| {
        set.cells()
            .iter()
            .filter(|cell| factor(cell, name) == value)
            .count()
    };
    // Two operations × two indexes × two kernels × two techniques, and two operations on text.
    assert_eq!((set.cells().len(), cells("format", "none")), (18, 2));
    let mut folder = start(&set, runs.path());
    run_to_the_end(&set, &mut folder).unwrap();
    let is_there = outcrop_column::Kernels::Avx512.check().is_ok();
    for entry in assert_complete(&set, &folder) {
        let Some(kernels) = entry.factors.get("kernels") else {
            continue;
        };
        let says = |kind: outcrop_schema::RemarkKind, words: &str| {
            let found = entry.notes.iter().find(|note| kind.is_kind_of(note));
            assert!(
                found.is_some_and(|note| note.text.contains(words)),
                "{:?}",
                entry.notes
            );
        };
        if kernels == "scalar" || is_there {
            says(column::KERNELS_USED, kernels);
            continue;
        }
        says(column::ABSENT, "avx512f");
        assert!(
            entry.values.iter().all(|value| value.value.is_none()),
            "{:?}",
            entry.values
        );
    }
}
