//! What the report says of the toy: its best cell, a claim and a finding.

use outcrop_report::answer::{Answer, Capability, Claim, Reading};
use outcrop_report::cell::{Cell, best};
use outcrop_report::layer::{LayerReport, ReportedLayer, cautions, subjects};
use outcrop_report::placement::Bounds;
use outcrop_report::{Finding, Number};
use outcrop_results::RunView;

use super::schema::{BIAS, Bias, HEADS, SCHEMA, TOSSES};

pub(super) static LAYER: ReportedLayer = ReportedLayer {
    schema: &SCHEMA,
    order: &[&BIAS, &TOSSES],
    read: |run, cells| Box::new(CoinReport { run, cells }),
    shown: None,
};

struct CoinReport<'a> {
    run: &'a RunView,
    cells: Vec<Cell<'a>>,
}

impl LayerReport for CoinReport<'_> {
    fn answer(&self, _: &Bounds<'_>) -> Answer {
        let most = best(&self.cells, &HEADS);
        let most = most.map(|(cell, number)| (number.clone(), SCHEMA.label(cell.factors())));
        let numbers: Vec<Number> = most.iter().map(|(number, _)| number.clone()).collect();
        let claim = Claim::new("Coin", "toss it often", "1000 tosses tell a coin.", numbers);
        let reading = Reading::of("coin", most, || "no coin was tossed".to_owned());
        Answer {
            subject: subjects(&self.cells),
            capabilities: vec![Capability {
                label: "Most heads".to_owned(),
                readings: vec![reading],
            }],
            advice: vec![claim],
            cautions: cautions(self.run, &SCHEMA, &self.cells, []),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let fair = self.cells.iter().filter(|cell| cell.is(&BIAS, &Bias::Fair));
        let heads: Vec<f64> = fair.filter_map(|cell| cell.value(&HEADS)).collect();
        let sentence = "A fair coin shows heads half of the time.";
        let holds = heads.iter().all(|share| (share - 0.5).abs() < 0.01);
        let seen = format!("{} fair coins", heads.len());
        vec![Finding::tested("fair", sentence, holds, seen)]
    }
}
