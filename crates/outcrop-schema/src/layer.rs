//! A layer as everybody but its engine sees it.

use std::collections::BTreeMap;

use outcrop_measure::metric::Metric;

use crate::factor::FactorRef;
use crate::remark::RemarkKind;
use crate::sampling::Sampling;
use crate::settings::Settings;

/// A column of a layer's table of cells.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// What it shows.
    pub metric: Metric,
    /// Its heading, a word or two.
    pub heading: &'static str,
    /// How soon it is left out where a table is too wide: the largest goes first. Cells that have the same of the figures with
    /// rank 0 stand in one table.
    pub rank: u8,
    /// Whether people read it in per cent.
    pub is_share: bool,
    /// Whether it is in exported tables alone: tables for people have it in other words.
    pub is_exported_only: bool,
    /// It is shown where a cell has another value than the default of one of these factors; where there are none, always.
    pub only_with: &'static [FactorRef],
}

/// A figure of the latencies of a cell that is taken from all of its trials together where single trials have too few operations.
///
/// It is for layers whose cells do one kind of operation each: all histograms of a cell are of that one.
#[derive(Clone, Copy, Debug)]
pub struct Pooled {
    /// The figure.
    pub metric: Metric,
    /// The quantile that it is.
    pub quantile: f64,
    /// The quantile that is subtracted, where it is a difference.
    pub less: Option<f64>,
}

impl Pooled {
    /// A percentile.
    pub const fn percentile(metric: Metric, quantile: f64) -> Self {
        Self {
            metric,
            quantile,
            less: None,
        }
    }
}

impl TableColumn {
    /// A column; see the fields.
    pub const fn new(metric: Metric, heading: &'static str, rank: u8) -> Self {
        Self {
            metric,
            heading,
            rank,
            is_share: false,
            is_exported_only: false,
            only_with: &[],
        }
    }

    /// The same where one of these factors has another value than its default; elsewhere it says nothing.
    #[must_use]
    pub const fn only_with(self, factors: &'static [FactorRef]) -> Self {
        Self {
            only_with: factors,
            ..self
        }
    }

    /// A column of exported tables alone.
    pub const fn exported(metric: Metric) -> Self {
        Self {
            is_exported_only: true,
            ..Self::new(metric, "", u8::MAX)
        }
    }

    /// A column of shares of a whole.
    pub const fn share(metric: Metric, heading: &'static str, rank: u8) -> Self {
        Self {
            is_share: true,
            ..Self::new(metric, heading, rank)
        }
    }
}

/// The vocabulary of one layer.
#[derive(Debug)]
pub struct LayerSchema {
    /// Its name in plans and records.
    pub name: &'static str,
    /// What plans may say about its subject.
    pub subject: &'static [FactorRef],
    /// What plans may say about its workload, fixed or as a factor; labels follow this order.
    pub workload: &'static [FactorRef],
    /// What only publications say.
    pub published: &'static [FactorRef],
    /// Without these a published figure names no cell or no condition: one that lacks them is marked.
    pub to_state: &'static [FactorRef],
    /// What its trials yield, in groups.
    pub metrics: &'static [&'static [Metric]],
    /// The figures of interest, those that matter first: a trial is known by the first that it has, and comparisons show these before all others.
    pub headline: &'static [Metric],
    /// What comparisons show next to these, where a cell does not say it twice.
    pub compared: &'static [Metric],
    /// What a table of its cells shows, in the order of its columns.
    pub table: &'static [TableColumn],
    /// What its trials may remark.
    pub remarks: &'static [RemarkKind],
    /// Figures of latencies that are taken from all trials together where single ones have too few operations.
    pub pooled: &'static [Pooled],
    /// What tells data apart: two cells with the same values of all these worked on the same data.
    pub data_identity: &'static [Metric],
    /// Which figures rest on a sample of the data, and what bounds them.
    pub sampling: Option<&'static Sampling>,
    /// The factor of the subject that a caller's `--size` sets.
    pub size: Option<FactorRef>,
    /// The factor of the subject that is a path on the storage that is measured.
    pub path: Option<FactorRef>,
    /// The factor of the subject that names a server of the user's, by URL.
    pub server: Option<FactorRef>,
    /// Whether a metric of a cell with these factors says again what another one says.
    pub repeats: fn(&BTreeMap<String, String>, &str) -> bool,
    /// Whether a metric of a cell with these factors follows from another one, as the bandwidth from the IOPS: shown, but not tested
    /// as a second figure.
    pub follows: fn(&BTreeMap<String, String>, &str) -> bool,
    /// Which factors set a metric by what they ask for, as the mix sets how many of the requests are reads: where cells differ in one, the
    /// ratio of the metric says what was asked for, not how the subject did.
    pub set_by: fn(&str) -> &'static [FactorRef],
    /// What a metric says nothing without, each time any of several factors: a hit ratio, without the memory and the keys. A published figure
    /// that leaves it out is comparable with none.
    pub rests_on: fn(&str) -> &'static [&'static [FactorRef]],
}

impl LayerSchema {
    /// A layer without anything: what a new one starts from.
    pub const fn named(name: &'static str) -> Self {
        Self {
            name,
            subject: &[],
            workload: &[],
            published: &[],
            to_state: &[],
            metrics: &[],
            headline: &[],
            compared: &[],
            table: &[],
            remarks: &[],
            pooled: &[],
            data_identity: &[],
            sampling: None,
            size: None,
            path: None,
            server: None,
            repeats: |_, _| false,
            follows: |_, _| false,
            set_by: |_| &[],
            rests_on: |_| &[],
        }
    }

    /// A factor of records and references by its name; those of the subject are not among them.
    pub fn factor(&self, name: &str) -> Option<FactorRef> {
        let factors = self.workload.iter().chain(self.published);
        factors.copied().find(|factor| factor.name == name)
    }

    /// A metric by its name.
    pub fn metric(&self, name: &str) -> Option<Metric> {
        self.all_metrics().find(|metric| metric.name == name)
    }

    /// Every metric.
    pub fn all_metrics(&self) -> impl Iterator<Item = Metric> {
        self.metrics.iter().copied().flatten().copied()
    }

    /// The factors of a record or a reference, typed as far as this schema can read them.
    pub fn read(&self, factors: &BTreeMap<String, String>) -> Settings {
        Settings::of_record(|name| self.factor(name), factors)
    }

    /// A cell in a few words, for people who watch: `4KiB 70:30 QD 32`.
    pub fn label(&self, factors: &Settings) -> String {
        let word = |factor: &FactorRef| factor.labelled(factors.spelling(factor.about())?);
        let words: Vec<String> = self.workload.iter().filter_map(word).collect();
        words.join(" ")
    }

    /// What a trial is known by, spelled: the first headline metric among `value_of`'s answers.
    pub fn headline(&self, value_of: impl Fn(&Metric) -> Option<f64>) -> Option<String> {
        let known = self.headline.iter();
        known
            .filter_map(|metric| Some(metric.format(value_of(metric)?)))
            .next()
    }
}
