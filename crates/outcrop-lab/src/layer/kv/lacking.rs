//! What a plan asks of engines that lack it: refused where none of them has it, said where some have it.

use std::collections::{BTreeMap, BTreeSet};

use outcrop_kv::engine::{durabilities, has_scans};
use outcrop_schema::kv;
use outcrop_schema::{FactorRef, Settings};
use outcrop_workload::keyed::OperationKind;
use outcrop_workload::store::{StoreCodec, StoreEngine};

use super::idle;
use crate::layer::{Origin, Refusal};

/// Whether a setting that an engine lacks has a value that asks for another way of doing what the engine does: a cell without it would not be
/// what the plan asks for. What an engine has no use for at all, such as a codec in a B-tree without blocks, is left out instead.
pub(super) fn is_another_way(engine: StoreEngine, factor: FactorRef, factors: &Settings) -> bool {
    let is_asked = factors.has(factor.about()) && !kv::is_what_it_does(engine, factor.about(), factors);
    let has_use = match engine {
        StoreEngine::Fjall | StoreEngine::RocksDb => true,
        StoreEngine::Redb | StoreEngine::Redis => factor.name == kv::IO.name,
        StoreEngine::Memcached | StoreEngine::None => false,
    };
    is_asked && has_use
}

/// What a plan says of one setting, and the engines that it says it of.
struct Asked {
    /// The first combination that says it.
    at: usize,
    factor: FactorRef,
    /// Whether it is refused where no engine has it.
    is_asked: bool,
    having: BTreeSet<StoreEngine>,
    lacking: BTreeSet<StoreEngine>,
}

/// Refuses a setting that none of a plan's engines has: all of its cells would be something else than the plan says, or not measured. Where
/// some engine has it, the others' cells are measured without it or recorded as not measured, and a note says so.
///
/// A default that nobody wrote down asks for nothing. One that stands in a plan may have been written there by us, so that it is not refused.
pub(super) fn check(
    combinations: &[Settings],
    origin: &dyn Fn(&str) -> Origin,
) -> Result<Vec<String>, (usize, Refusal)> {
    let mut all: BTreeMap<(&str, String), Asked> = BTreeMap::new();
    for (at, factors) in combinations.iter().enumerate() {
        let engine = *factors.value(&kv::ENGINE);
        for factor in kv::lacked_by(StoreEngine::None) {
            let Some(spelling) = factors.spelling(factor.about()) else {
                continue;
            };
            let is_default = factor.default == Some(spelling);
            if is_default && origin(factor.name) == Origin::Default {
                continue;
            }
            let asked = all
                .entry((factor.name, spelling.to_owned()))
                .or_insert_with(|| Asked {
                    at,
                    factor,
                    is_asked: !is_default || origin(factor.name) == Origin::Flag,
                    having: BTreeSet::new(),
                    lacking: BTreeSet::new(),
                });
            match has(engine, factor, factors) {
                true => asked.having.insert(engine),
                false => asked.lacking.insert(engine),
            };
        }
    }
    check_scans(combinations)?;
    let is_refused = |asked: &Asked| asked.having.is_empty() && asked.is_asked;
    if let Some(((_, spelling), asked)) = all.iter().find(|(_, asked)| is_refused(asked)) {
        return Err((asked.at, asked.refusal(spelling)));
    }
    idle::check(combinations, origin)?;
    let mut unmet = Unmet::default();
    for asked in all
        .values()
        .filter(|asked| asked.is_asked || asked.having.is_empty())
    {
        for engine in &asked.lacking {
            unmet.add(*engine, asked.factor, &combinations[asked.at]);
        }
    }
    Ok(unmet.notes())
}

/// Refuses workloads with scans where no engine has any: no cell could be measured.
fn check_scans(combinations: &[Settings]) -> Result<(), (usize, Refusal)> {
    let scans = |factors: &Settings| factors.value(&kv::WORKLOAD).mix().has(OperationKind::Scan);
    let lacks = |factors: &Settings| scans(factors) && !has_scans(*factors.value(&kv::ENGINE));
    let Some(first) = combinations.first().filter(|_| combinations.iter().all(lacks)) else {
        return Ok(());
    };
    let stores_in_order = |engine: &StoreEngine| *engine != StoreEngine::None && has_scans(*engine);
    let engines: BTreeSet<StoreEngine> = combinations
        .iter()
        .map(|factors| *factors.value(&kv::ENGINE))
        .collect();
    let verb = if engines.len() == 1 {
        "keeps its"
    } else {
        "keep their"
    };
    let message = format!(
        "{} has scans, but {} {verb} keys in no order; use a workload without scans, such as ycsb-a, or the engine {}",
        first.value(&kv::WORKLOAD),
        listed(engines.into_iter(), " and "),
        listed(StoreEngine::ALL.into_iter().filter(stores_in_order), " or ")
    );
    Err((0, Refusal::of(&kv::WORKLOAD, message)))
}

/// Whether an engine has a setting with this value, or does what it says anyway.
fn has(engine: StoreEngine, factor: FactorRef, factors: &Settings) -> bool {
    if !kv::has(engine, factor.about()) {
        return kv::is_what_it_does(engine, factor.about(), factors);
    }
    let has_codec = |codec: &StoreCodec| engine.codecs().contains(codec);
    let durability = factors
        .get(&kv::DURABILITY)
        .filter(|_| factor.name == kv::DURABILITY.name);
    let has_durability = durability.is_none_or(|durability| durabilities(engine).contains(durability));
    has_durability && wanted_codecs(factor, factors).iter().all(has_codec)
}

/// The value of a setting among those that engines which have it may lack: a codec, or what a write has to reach.
fn supported(engine: StoreEngine, factor: FactorRef) -> Vec<&'static str> {
    match factor.name {
        name if name == kv::DURABILITY.name => durabilities(engine).iter().map(|one| one.name()).collect(),
        _ => engine.codecs().iter().map(|one| one.name()).collect(),
    }
}

/// The codecs that a setting asks for; none for a setting of something else, and for one that another overrides.
fn wanted_codecs(factor: FactorRef, factors: &Settings) -> Vec<StoreCodec> {
    let levels = factors.value(&kv::LEVEL_CODECS).codecs();
    match factor.name {
        name if name == kv::LEVEL_CODECS.name => levels.to_vec(),
        name if name == kv::COMPRESSION.name && levels.is_empty() => {
            vec![factors.value(&kv::COMPRESSION).codec]
        }
        _ => Vec::new(),
    }
}

impl Asked {
    fn refusal(&self, spelling: &str) -> Refusal {
        let with_others: Vec<String> = self
            .lacking
            .iter()
            .filter(|engine| kv::has(**engine, self.factor.about()))
            .map(|engine| {
                format!(
                    "{engine} supports {}",
                    supported(*engine, self.factor).join(" and ")
                )
            })
            .collect();
        let (what, all) = match self.factor.name == kv::DURABILITY.name {
            true => ("writes that are", "all three"),
            false => ("the codec", "all codecs"),
        };
        let message = match with_others.as_slice() {
            [] => {
                let others = StoreEngine::ALL.into_iter();
                let others = others.filter(|engine| kv::has(*engine, self.factor.about()));
                let verb = if self.lacking.len() == 1 { "has" } else { "have" };
                format!(
                    "{} {verb} no such setting; leave it out, or use the engine {}",
                    listed(self.lacking.iter().copied(), " and "),
                    listed(others, " or ")
                )
            }
            has => format!(
                "the engine does not have {what} {spelling}: {}; use one of these, or rocksdb, which supports {all}",
                has.join(", ")
            ),
        };
        Refusal::of(self.factor.about(), message)
    }
}

/// By engine: settings that its cells are measured without, and settings for which they are recorded as not measured.
#[derive(Default)]
struct Unmet(BTreeMap<StoreEngine, [BTreeSet<String>; 2]>);

impl Unmet {
    fn add(&mut self, engine: StoreEngine, factor: FactorRef, factors: &Settings) {
        // A codec that an engine lacks is said with its cells.
        if !kv::has(engine, factor.about()) {
            let is_unmeasured = is_another_way(engine, factor, factors);
            self.0.entry(engine).or_default()[usize::from(is_unmeasured)].insert(in_words(factor));
        }
    }

    fn notes(&self) -> Vec<String> {
        let note = |engine: &StoreEngine, settings: &BTreeSet<String>, then: &str| {
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            (!settings.is_empty()).then(|| format!("{engine} has no {}: {then}", settings.join(", ")))
        };
        let of_engine = |(engine, [left_out, unmeasured]): (&StoreEngine, &[BTreeSet<String>; 2])| {
            [
                note(engine, left_out, "its cells are measured without"),
                note(
                    engine,
                    unmeasured,
                    "its cells that need it are recorded as not measured",
                ),
            ]
        };
        self.0.iter().flat_map(of_engine).flatten().collect()
    }
}

/// What an engine has that has this setting.
fn in_words(factor: FactorRef) -> String {
    let words = match factor.name {
        name if name == kv::IO.name => "direct I/O",
        name if name == kv::COMPACTION.name => "universal compaction",
        name if name == kv::BOTTOMMOST.name => "separate codec for the last level",
        name if name == kv::DICTIONARY.name => "dictionaries",
        _ => return factor.words(),
    };
    words.to_owned()
}

/// The names of engines.
fn listed(engines: impl Iterator<Item = StoreEngine>, between: &str) -> String {
    let names: Vec<&str> = engines.map(StoreEngine::name).collect();
    names.join(between)
}
