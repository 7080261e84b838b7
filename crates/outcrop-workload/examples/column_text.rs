//! Writes a generated string column as text: `column_text ROWS DISTINCT SKEW [ORDER [SEED]] > column.txt`.

use outcrop_measure::seed::Seed;
use outcrop_workload::column::{ColumnSpec, RowOrder};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, distinct, skew, rest @ ..] = arguments.as_slice() else {
        return Err("usage: column_text ROWS DISTINCT SKEW [random|clustered|sorted [SEED]]".into());
    };
    let spec = ColumnSpec {
        row_count: rows.parse()?,
        distinct: distinct.parse()?,
        skew: skew.parse()?,
        order: rest.first().map_or(Ok(RowOrder::Random), |order| order.parse())?,
        seed: rest.get(1).map_or(Ok(Seed(1)), |seed| seed.parse())?,
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    spec.write_text(&mut std::io::stdout().lock(), threads, |_| {})?;
    Ok(())
}
