//! What a layer contributes to the page besides its answer and findings.

use outcrop_results::Reference;
use serde::Serialize;

use crate::chart::{Figure, Wait};
use crate::finding::Finding;
use crate::number::Number;

/// A figure, or what is missing for it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FigureSlot {
    /// It could be drawn.
    Drawn(Figure),
    /// It could not.
    Missing(Missing),
}

impl FigureSlot {
    /// A figure that this run cannot give.
    pub(crate) fn missing(title: &str, reason: &str, plan: &str) -> Self {
        Self::Missing(Missing {
            title: title.to_owned(),
            reason: reason.to_owned(),
            plan: plan.to_owned(),
            effort: LeastEffort::Quick,
            generates_data: false,
        })
    }

    /// The same; where it is missing, its plan generates all that it measures, and refuses other data.
    #[must_use]
    pub(crate) fn of_generated_data(self) -> Self {
        match self {
            Self::Missing(missing) => Self::Missing(Missing {
                generates_data: true,
                ..missing
            }),
            drawn @ Self::Drawn(_) => drawn,
        }
    }

    /// The same; where it is missing, its plan has the cells for it from this effort on.
    #[must_use]
    pub(crate) fn with_effort(self, effort: LeastEffort) -> Self {
        match self {
            Self::Missing(missing) => Self::Missing(Missing { effort, ..missing }),
            drawn @ Self::Drawn(_) => drawn,
        }
    }

    /// The same; a page that would be too long leaves it to the folder of figures.
    #[must_use]
    pub(crate) fn that_can_wait(self, wait: Wait) -> Self {
        match self {
            Self::Drawn(figure) => Self::Drawn(Figure { wait, ..figure }),
            missing @ Self::Missing(_) => missing,
        }
    }

    /// A figure; one that came out empty says what would fill it.
    pub(crate) fn of(figure: Option<Figure>, title: &str, plan: &str) -> Self {
        match figure {
            Some(figure) => Self::Drawn(figure),
            None => Self::missing(title, "its cells gave no value.", plan),
        }
    }
}

/// Something that this run cannot show, and what would.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    /// What is not shown.
    pub title: String,
    /// Why not.
    pub reason: String,
    /// The plan that would fill it; empty where no plan would, on this machine.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub plan: String,
    /// The effort from which on that plan has the cells for it.
    pub effort: LeastEffort,
    /// Whether that plan generates all that it measures: it refuses other data.
    #[serde(skip)]
    pub generates_data: bool,
}

/// How thorough a run of a plan must be to have some cells: shorter efforts leave values of factors out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LeastEffort {
    /// Every effort has them.
    #[default]
    Quick,
    /// The usual effort has them, and the full one.
    Default,
    /// The full effort alone has them.
    Full,
}

impl LeastEffort {
    const ALL: [Self; 3] = [Self::Quick, Self::Default, Self::Full];

    /// As plans and flags spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Default => "default",
            Self::Full => "full",
        }
    }

    /// The effort that a run states; the usual one where it states none.
    pub(crate) fn stated(effort: Option<&str>) -> Self {
        let known = Self::ALL.into_iter().find(|known| Some(known.name()) == effort);
        known.unwrap_or(Self::Default)
    }
}

/// Two factors against each other, several metrics deep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Matrix {
    /// What was held fixed (`100:0, reads only`).
    pub title: String,
    /// Name of the factor that goes down.
    pub row_factor: String,
    /// Name of the factor that goes across.
    pub column_factor: String,
    /// Values of the factor that goes down.
    pub rows: Vec<String>,
    /// Values of the factor that goes across.
    pub columns: Vec<String>,
    /// One table per metric, all of the same shape.
    pub metrics: Vec<MatrixMetric>,
}

/// One metric of a matrix.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatrixMetric {
    /// What is shown (`IOPS`).
    pub name: String,
    /// Rows of cells; `None` where the run has no such cell or no value.
    pub cells: Vec<Vec<Option<Number>>>,
}

/// Published figures, run through the checks that our own go through.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceSection {
    /// Short name (`toshiba-kxg60znv256g-fio`).
    pub name: String,
    /// What it is.
    pub title: String,
    /// What the checks found in it.
    pub findings: Vec<Finding>,
    /// The rows beside ours.
    pub table: Table,
    /// The publication's own tables beside ours, where this run has their cells.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<Table>,
    /// What a reader must know before relying on the figures.
    pub caveats: Vec<String>,
}

impl ReferenceSection {
    /// A publication with what was found in it, and its rows beside ours.
    pub(crate) fn of(reference: Reference, findings: Vec<Finding>, table: Table) -> Self {
        Self {
            name: reference.name,
            title: reference.title,
            findings,
            table,
            tables: Vec::new(),
            caveats: reference.caveats,
        }
    }

    /// The same with the publication's own tables.
    pub(crate) fn with_tables(self, tables: Vec<Table>) -> Self {
        Self { tables, ..self }
    }
}

/// A plain table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Column heads.
    pub head: Vec<String>,
    /// Rows, as wide as the head.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table; see the fields.
    pub(crate) fn new(caption: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Self {
        Self {
            caption: caption.to_owned(),
            head: head.iter().map(|head| (*head).to_owned()).collect(),
            rows: rows.into_iter().collect(),
        }
    }
}

impl Method {
    /// Quantities and how they were obtained, as layers list them.
    pub fn all(methods: &[(&str, &str)]) -> Vec<Self> {
        let method = |(quantity, how): &(&str, &str)| Self {
            quantity: (*quantity).to_owned(),
            how: (*how).to_owned(),
        };
        methods.iter().map(method).collect()
    }
}

/// How one quantity of the report was obtained.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Method {
    /// The quantity.
    pub quantity: String,
    /// How it was obtained, in a sentence or two.
    pub how: String,
}
