//! Which cells meet, and under which conditions a ratio of theirs means something.
//!
//! What a factor is to a comparison, its [`Role`] says: workload and data name a cell, an implementation does so among runs and is a
//! condition beside a publication, and a condition never does.

use outcrop_measure::ByteSize;
use outcrop_schema::cache::WORKLOAD;
use outcrop_schema::compression::CORPUS;
use outcrop_schema::factor::OF_WORKLOAD;
use outcrop_schema::{Column, FactorRef, LayerSchema, Role};

use super::cells::Cell;
use super::reason::Whose;
use super::{NotComparable, Side};
use crate::references::NOT_STATED;

/// Spans nearer than this are one span: `512 MB` is often written where 512 MiB is meant.
const SIZE_TOLERANCE: f64 = 0.1;

/// True when the two cells are of one workload. Runs meet on equal factors, a reference on those it shares.
pub(super) fn meet(a: &Cell, b: &Cell) -> bool {
    if a.pair.is_some() || b.pair.is_some() {
        return a.layer == b.layer && a.pair == b.pair;
    }
    let agrees = |from: &Cell, to: &Cell| {
        from.factors
            .iter()
            .filter(|(name, _)| names_a_cell(from.schema, name, is_published(a, b)))
            .all(|(name, value)| value_of(to, name).map_or(is_published(a, b), |other| other == value))
    };
    a.layer == b.layer && agrees(a, b) && agrees(b, a)
}

/// The value of a factor of the workload: what a run of an earlier version, or of another program, does not state was as it always was then.
pub(super) fn value_of<'c>(cell: &'c Cell, name: &str) -> Option<&'c str> {
    let assumed = || {
        let factor = cell.schema?.factor(name)?;
        factor.assumed.filter(|_| !cell.is_reference)
    };
    cell.factors.get(name).map(String::as_str).or_else(assumed)
}

/// Whether cells differ that differ in this factor; one that nobody knows is of the workload.
pub(super) fn names_a_cell(schema: Option<&'static LayerSchema>, name: &str, is_published: bool) -> bool {
    let factor = schema.and_then(|schema| Some((schema, schema.factor(name)?)));
    factor.is_none_or(|(schema, factor)| match factor.role {
        Role::Workload => true,
        Role::Implementation => !is_published,
        Role::Condition => false,
        // What only publications say tells their rows apart, not cells.
        Role::Data => !schema.published.iter().any(|published| published.name == name),
    })
}

/// The workload factors that a reference does not state, so that no cell can be said to be like it.
pub(super) fn unstated_workload(cell: &Cell, side: Side) -> Vec<NotComparable> {
    let to_state = cell.schema.map_or(&[][..], |schema| schema.to_state);
    let is_unstated = |factor: &&FactorRef| {
        factor.role == Role::Workload
            && cell
                .factors
                .get(factor.name)
                .is_some_and(|value| value == NOT_STATED)
    };
    to_state
        .iter()
        .filter(is_unstated)
        .map(|factor| NotComparable::ConditionNotStated {
            condition: factor.name.to_owned(),
            side,
            whose: whose(cell),
        })
        .collect()
}

/// What a publication would have to state for this figure of it to say something, and does not.
pub(super) fn unstated_of_metric(cell: &Cell, metric: &str, side: Side) -> Vec<NotComparable> {
    let rests_on = cell.schema.map_or(&[][..], |schema| (schema.rests_on)(metric));
    let is_unstated = |any: &&&[FactorRef]| any.iter().all(|factor| stated(cell, factor.name).is_none());
    let unstated = rests_on.iter().filter(|_| cell.is_reference).filter(is_unstated);
    let first = unstated.filter_map(|any| any.first());
    first
        .map(|factor| NotComparable::ConditionNotStated {
            condition: factor.name.to_owned(),
            side,
            whose: whose(cell),
        })
        .collect()
}

/// The reasons why figures of two cells that meet cannot be compared; empty when they can.
pub(super) fn reasons(baseline: &Cell, candidate: &Cell) -> Vec<NotComparable> {
    let Some(schema) = baseline.schema else {
        return Vec::new();
    };
    let factors = schema.workload.iter().chain(schema.published);
    let of_data = of_data(baseline, candidate).or_else(|| of_corpus(schema, baseline, candidate));
    let mut reasons: Vec<NotComparable> = of_data.into_iter().collect();
    if baseline.pair.is_some() {
        // Variants of one run differ in what somebody asked for.
        return reasons;
    }
    for factor in factors {
        match factor.role {
            Role::Condition => check(&mut reasons, *factor, schema, (baseline, candidate)),
            Role::Implementation if is_published(baseline, candidate) => {
                if let (Some(a), Some(b)) = (stated(baseline, factor.name), stated(candidate, factor.name))
                    && a != b
                {
                    reasons.push(differs(factor.name, a, b));
                }
            }
            _ => {}
        }
    }
    if is_published(baseline, candidate) {
        reasons.extend(of_workload(schema, baseline, candidate));
    }
    reasons
}

/// What a run was given in place of what the workload decides, of which a publication names the workload alone: requests of another kind.
fn of_workload(schema: &LayerSchema, baseline: &Cell, candidate: &Cell) -> Vec<NotComparable> {
    let (published, run) = match baseline.is_reference {
        true => (baseline, candidate),
        false => (candidate, baseline),
    };
    let Some(workload) = stated(published, WORKLOAD.name) else {
        return Vec::new();
    };
    let decided = schema
        .workload
        .iter()
        .filter(|factor| factor.decided == OF_WORKLOAD);
    decided
        .filter(|factor| stated(published, factor.name).is_none() && factor.read(workload).is_ok())
        .filter_map(|factor| {
            let own = stated(run, factor.name).filter(|own| *own != workload)?;
            Some(match baseline.is_reference {
                true => differs(factor.name, workload, own),
                false => differs(factor.name, own, workload),
            })
        })
        .collect()
}

/// Whether the two worked on other data, or on samples of other sizes.
fn of_data(baseline: &Cell, candidate: &Cell) -> Option<NotComparable> {
    let differ = || NotComparable::DataDiffer {
        baseline: baseline.subject.clone(),
        candidate: candidate.subject.clone(),
    };
    if let (Some(a), Some(b)) = (&baseline.data, &candidate.data) {
        let apart = a.taken_bytes.abs_diff(b.taken_bytes) as f64;
        return if a.whole != b.whole {
            Some(differ())
        } else if apart > SIZE_TOLERANCE * a.taken_bytes.max(b.taken_bytes) as f64 {
            Some(NotComparable::SampleSizeDiffers {
                baseline: a.taken_bytes,
                candidate: b.taken_bytes,
            })
        } else {
            None
        };
    }
    // Runs of earlier versions recorded no fingerprint: data of two names that what they recorded tells apart are two.
    let is_one = baseline.told_apart_by()? == candidate.told_apart_by()?;
    (!is_one && baseline.subject != candidate.subject).then(differ)
}

/// Whether a publication that has to state its data worked on those of the run that it is compared with: as far as it says, or somebody does
/// for it.
fn of_corpus(schema: &LayerSchema, baseline: &Cell, candidate: &Cell) -> Option<NotComparable> {
    schema.to_state.iter().find(|factor| factor.name == CORPUS.name)?;
    let (published, run, side) = match (baseline.is_reference, candidate.is_reference) {
        (true, false) => (baseline, candidate, Side::Baseline),
        (false, true) => (candidate, baseline, Side::Candidate),
        _ => return None,
    };
    let Some(corpus) = stated(published, CORPUS.name) else {
        return Some(NotComparable::ConditionNotStated {
            condition: CORPUS.name.to_owned(),
            side,
            whose: Whose::Publication,
        });
    };
    // The subject of a run is the name of its data, with the size at its end.
    let rest = run.subject.strip_prefix(corpus);
    if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ','])) {
        return None;
    }
    let (baseline, candidate) = match side {
        Side::Baseline => (corpus.to_owned(), run.subject.clone()),
        Side::Candidate => (run.subject.clone(), corpus.to_owned()),
    };
    Some(NotComparable::DataDiffer { baseline, candidate })
}

/// Holds a condition of the two sides together: what neither states, and nobody has to, is no objection.
fn check(
    reasons: &mut Vec<NotComparable>,
    factor: FactorRef,
    schema: &LayerSchema,
    (baseline, candidate): (&Cell, &Cell),
) {
    let is_to_state = schema.to_state.iter().any(|other| other.name == factor.name);
    let value = |cell: &'_ Cell| -> Option<String> {
        // A run that says nothing measured its subject as it found it; a publication that has to say it and does not is unknown.
        let assumed = factor.assumed.filter(|_| !(cell.is_reference && is_to_state));
        let stated = stated(cell, factor.name).or(assumed).map(str::to_owned);
        stated.or_else(|| size_in_subject(factor, cell))
    };
    match (value(baseline), value(candidate)) {
        (Some(a), Some(b)) if is_same(factor, &a, &b) => {}
        (Some(a), Some(b)) => reasons.push(differs(factor.name, &a, &b)),
        (None, None) if !is_published(baseline, candidate) => {}
        (a, b) => {
            for (value, side, cell) in [(a, Side::Baseline, baseline), (b, Side::Candidate, candidate)] {
                if value.is_none() {
                    reasons.push(NotComparable::ConditionNotStated {
                        condition: factor.name.to_owned(),
                        side,
                        whose: whose(cell),
                    });
                }
            }
        }
    }
}

fn differs(condition: &str, baseline: &str, candidate: &str) -> NotComparable {
    NotComparable::ConditionDiffers {
        condition: condition.to_owned(),
        baseline: baseline.to_owned(),
        candidate: candidate.to_owned(),
    }
}

fn whose(cell: &Cell) -> Whose {
    match (cell.is_reference, cell.is_imported) {
        (true, _) => Whose::Publication,
        (false, true) => Whose::Import,
        (false, false) => Whose::Run,
    }
}

fn is_published(a: &Cell, b: &Cell) -> bool {
    a.is_reference || b.is_reference
}

fn stated<'c>(cell: &'c Cell, name: &str) -> Option<&'c str> {
    let value = cell.factors.get(name)?;
    (value != NOT_STATED).then_some(value.as_str())
}

/// A size that a run's cell leaves out is that of its whole subject, which stands at the end of its name (`scratch-file 2GiB`).
fn size_in_subject(factor: FactorRef, cell: &Cell) -> Option<String> {
    let last = cell.subject.split_whitespace().next_back()?;
    // A bare number at the end of a name is a model, not a size.
    let is_size = last.ends_with('B') && last.parse::<ByteSize>().is_ok();
    (factor.column() == Column::Bytes && is_size && !cell.is_reference).then(|| last.to_owned())
}

fn is_same(factor: FactorRef, a: &str, b: &str) -> bool {
    match (a.parse::<ByteSize>(), b.parse::<ByteSize>()) {
        (Ok(ByteSize(a)), Ok(ByteSize(b))) if factor.column() == Column::Bytes => {
            (a.abs_diff(b) as f64) <= SIZE_TOLERANCE * a.max(b) as f64
        }
        _ => a == b,
    }
}
