//! What plans say about columns, in the engine's terms: what data decide, and the checks between factors.

use std::path::Path;

use outcrop_column::Technique;
use outcrop_column_bench::tabular::{Given, Table, column_name};
use outcrop_column_bench::{self as bench, BenchError, BenchSpec};
use outcrop_measure::seed::Seed;
use outcrop_schema::column::{
    COLUMN, DELIMITER, DISTINCT, FORMAT, Format, HEADER, Header, INDEX, Index, KERNELS, KIND, Kernels, Kind,
    NULL_TEXT, OF_DELIMITED, OPERATION, ORDER, PATH, PROFILE, Profile, QUOTES, Quotes, ROWS, Rows,
    SEARCH_MODE, SKEW, TEXT_LIMIT, THREADS, WITHOUT, Without,
};
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::column::{ColumnSpec, Operation, RowOrder};
use outcrop_workload::word::hint;

use super::OF_GENERATED;
use crate::cell::TrialOptions;
use crate::layer::{Origin, Refusal, dropped};

/// Rows of a generated column when a plan says nothing.
const DEFAULT_ROWS: u64 = 1_000_000;
/// Its distinct words.
const DEFAULT_DISTINCT: u32 = 10_000;

/// What a subject says of how its table is read, for the engine.
pub(super) fn given(subject: &Settings) -> Given {
    Given {
        delimiter: subject.get(&DELIMITER).map(|delimiter| delimiter.0),
        has_header: subject.get(&HEADER).map(|header| *header == Header::Yes),
        has_quotes: subject.get(&QUOTES) != Some(&Quotes::No),
        null: subject.get(&NULL_TEXT).cloned(),
    }
}

/// The same as factors and their values; nothing of what nobody said.
pub(super) fn form_of(subject: &Settings) -> impl Iterator<Item = (FactorRef, String)> {
    let said = OF_DELIMITED
        .iter()
        .filter_map(|factor| Some((*factor, subject.spelling(factor.about())?.to_owned())));
    said.collect::<Vec<_>>().into_iter()
}

/// Describes the rows of a generated column as far as a plan does not.
pub(super) fn complete_generated(factors: &mut Settings) -> Result<(), Refusal> {
    if let Some(column) = factors.get(&COLUMN) {
        let message = format!(
            "a generated column has no name, but `column` is {column:?}; use a subject of kind \"file\""
        );
        return Err(Refusal::of(&COLUMN, message));
    }
    factors.set_default(&ROWS, Rows::Count(DEFAULT_ROWS));
    factors.set_default(&DISTINCT, DEFAULT_DISTINCT);
    factors.set_default(&SKEW, 0.0);
    factors.set_default(&ORDER, RowOrder::default());
    if *factors.value(&ROWS) == Rows::All {
        return Err(Refusal::of(
            &ROWS,
            "a generated column needs a number of rows; \"all\" is for files",
        ));
    }
    Ok(())
}

/// Finds the column of a file by its name or number.
pub(super) fn complete_file(path: &Path, given: &Given, factors: &mut Settings) -> Result<(), Refusal> {
    for factor in OF_GENERATED {
        if let Some(value) = factors.spelling(factor.about()) {
            let message = format!(
                "`{}` is {value}, but a file has its own rows; leave it out, or use {} = \"{}\"",
                factor.name,
                KIND.name,
                Kind::Generated
            );
            return Err(Refusal::of(factor.about(), message));
        }
    }
    factors.set_default(&ROWS, Rows::All);
    if *factors.value(&OPERATION) == Operation::Size && *factors.value(&ROWS) != Rows::All {
        let message = format!(
            "`{}` takes the whole column, but `{}` is {}; leave it out, or bound the column by `{}`",
            Operation::Size,
            ROWS.name,
            factors.value(&ROWS),
            TEXT_LIMIT.name
        );
        return Err(Refusal::of(&ROWS, message));
    }
    let refused = |error: BenchError| Refusal::of(&PATH, error.to_string());
    let wanted = factors.get(&COLUMN).cloned();
    if let Some(called) = &wanted
        && let Some(name) = column_name(path, given, called).map_err(refused)?
    {
        // A number and a name of the same column are the same cell.
        factors.set(&COLUMN, name);
        return Ok(());
    }
    let table = Table::describe_as(path, given).map_err(refused)?;
    let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    let message = match wanted {
        None => format!("name the column with `column`: {}", names.join(", ")),
        Some(called) => format!("the file has no column {called:?}; {}", hint(&called, &names)),
    };
    Err(Refusal::of(&COLUMN, message))
}

/// Lets the engine judge the trial, as it will when it starts.
pub(super) fn check(factors: &Settings, trial: &TrialOptions) -> Result<(), Refusal> {
    bench_spec(factors, trial, Seed(0)).validate().map_err(|error| {
        let factor: FactorRef = match (factors.value(&FORMAT), factors.value(&INDEX)) {
            (Format::Text(_), _) => &FORMAT,
            (Format::Ocol, Index::Only) => &INDEX,
            (Format::Ocol, _) => &SEARCH_MODE,
        };
        Refusal::of(factor.about(), error.to_string())
    })
}

/// Leaves out what has no effect on a cell, so that cells that differ in nothing are one.
pub(super) fn drop_meaningless(factors: &mut Settings) {
    let dropped: &[FactorRef] = match (factors.value(&FORMAT), factors.value(&OPERATION)) {
        (_, Operation::Size) if factors.has(&DISTINCT) => {
            &[&INDEX, &THREADS, &SEARCH_MODE, &TEXT_LIMIT, &KERNELS, &WITHOUT]
        }
        (_, Operation::Size) => &[&INDEX, &THREADS, &SEARCH_MODE, &KERNELS, &WITHOUT],
        (Format::Text(_), _) => &[
            &INDEX,
            &PROFILE,
            &THREADS,
            &SEARCH_MODE,
            &TEXT_LIMIT,
            &KERNELS,
            &WITHOUT,
        ],
        (Format::Ocol, Operation::Encode) => &[&SEARCH_MODE, &TEXT_LIMIT],
        (Format::Ocol, _) => &[&THREADS, &TEXT_LIMIT],
    };
    dropped.iter().for_each(|factor| factors.remove(factor.about()));
}

/// Refuses a value that has an effect on no cell of a plan.
pub(super) fn check_used(
    is_generated: bool,
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
) -> Result<(), (usize, Refusal)> {
    let kept = |combination: &Settings| {
        let mut kept = combination.clone();
        if is_generated {
            kept.set_default(&DISTINCT, DEFAULT_DISTINCT);
        }
        drop_meaningless(&mut kept);
        kept
    };
    let why = |factor: FactorRef, combination: &Settings| {
        format!(
            "`{}` has no effect on {} with format {}; leave it out",
            factor.name,
            combination.value(&OPERATION),
            combination.value(&FORMAT)
        )
    };
    // The limit on a file's text may stand in a plan that is measured with generated rows too.
    let factors: [FactorRef; 6] = [&INDEX, &PROFILE, &THREADS, &SEARCH_MODE, &KERNELS, &WITHOUT];
    dropped::check(&factors, combinations, origin, kept, why).map(drop)
}

/// The trial of a cell; what the cell does not have is at its default.
pub(super) fn bench_spec(factors: &Settings, trial: &TrialOptions, seed: Seed) -> BenchSpec {
    let default = BenchSpec::default();
    let (index, profile) = (factors.get(&INDEX), factors.get(&PROFILE));
    BenchSpec {
        operation: *factors.value(&OPERATION),
        format: format_of(factors.value(&FORMAT)),
        index: index.map_or(default.index, |index| index_of(*index)),
        profile: profile.map_or(default.profile, |profile| profile_of(*profile)),
        left_out: factors
            .get(&WITHOUT)
            .map_or(default.left_out, |without| left_out(*without)),
        kernels: factors.get(&KERNELS).and_then(|kernels| kernels_of(*kernels)),
        threads: factors
            .get(&THREADS)
            .map_or(default.threads, |threads| *threads as usize),
        mode: factors.get(&SEARCH_MODE).copied().unwrap_or(default.mode),
        warm_up: trial.warm_up.0,
        duration: trial.duration.0,
        seed,
    }
}

/// The engine's own words: the codecs are used without the lab, and know no vocabulary but their own.
fn format_of(format: &Format) -> bench::Format {
    match format {
        Format::Ocol => bench::Format::Ocol,
        Format::Text(codec) => match codec.to_string().parse() {
            Ok(codec) => bench::Format::Text(codec),
            Err(_) => unreachable!("{codec} was read as a codec when the plan was"),
        },
    }
}

const fn index_of(index: Index) -> outcrop_column::Index {
    match index {
        Index::None => outcrop_column::Index::None,
        Index::Postings => outcrop_column::Index::Postings,
        Index::Only => outcrop_column::Index::Only,
    }
}

const fn profile_of(profile: Profile) -> outcrop_column::Profile {
    match profile {
        Profile::Smallest => outcrop_column::Profile::Smallest,
        Profile::Balanced => outcrop_column::Profile::Balanced,
        Profile::Fastest => outcrop_column::Profile::Fastest,
    }
}

const fn kernels_of(kernels: Kernels) -> Option<outcrop_column::Kernels> {
    match kernels {
        Kernels::Widest => None,
        Kernels::Scalar => Some(outcrop_column::Kernels::Scalar),
        Kernels::Avx2 => Some(outcrop_column::Kernels::Avx2),
        Kernels::Avx512 => Some(outcrop_column::Kernels::Avx512),
    }
}

const fn left_out(without: Without) -> &'static [Technique] {
    match without {
        Without::Nothing => &[],
        Without::FrontCoding => &[Technique::FrontCoding],
        Without::Deltas => &[Technique::Deltas],
        Without::Classes => &[Technique::Classes],
        Without::Zstd => &[Technique::Zstd],
        Without::Tokens => &[Technique::Tokens],
        Without::EntropyCoding => &[Technique::Classes, Technique::Zstd],
        Without::All => &[
            Technique::FrontCoding,
            Technique::Deltas,
            Technique::Classes,
            Technique::Zstd,
            Technique::Tokens,
        ],
    }
}

/// The column of a cell whose subject is generated; `None` where rows are a file's.
pub(super) fn column_spec(factors: &Settings, seed: Seed) -> Option<ColumnSpec> {
    let Some(Rows::Count(row_count)) = factors.get(&ROWS) else {
        return None;
    };
    Some(ColumnSpec {
        row_count: *row_count,
        distinct: *factors.get(&DISTINCT)?,
        skew: *factors.get(&SKEW)?,
        order: *factors.get(&ORDER)?,
        seed,
    })
}
