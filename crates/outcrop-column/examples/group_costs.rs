//! What groups of tokens cost who reads them: `group_costs TEXT [PAIRS]`.
//!
//! Encodes newline text as `smallest` with and without them, and prints how long reading takes with them ÷ without: CPU time of one
//! thread, both in turn, the median of the pairs with its ends.

use std::hint::black_box;
use std::io::Write as _;

use outcrop_column::{Column, EncodeOptions, Profile, Result, Technique, encode_text};
use rustix::time::{ClockId, clock_gettime};

/// Something that is done with a column.
type Work<'a> = &'a dyn Fn(&Column) -> Result<()>;

/// CPU time of the process, in seconds.
fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn seconds(work: Work<'_>, column: &Column) -> Result<f64> {
    let start = cpu_seconds();
    work(column)?;
    Ok(cpu_seconds() - start)
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [text, rest @ ..] = arguments.as_slice() else {
        return Err(std::io::Error::other("usage: group_costs TEXT [PAIRS]").into());
    };
    let pairs: usize = rest.first().and_then(|pairs| pairs.parse().ok()).unwrap_or(7);
    let text = std::fs::read(text)?;
    let options = EncodeOptions {
        profile: Profile::Smallest,
        threads: 2,
        ..EncodeOptions::default()
    };
    let encoded = |left_out: Option<Technique>| {
        let mut file = Vec::new();
        let mut encoder = encode_text(text.as_slice(), options)?;
        if let Some(technique) = left_out {
            encoder.leave_out(technique);
        }
        encoder.finish(&mut file)?;
        Ok::<_, outcrop_column::ColumnError>((file.len(), Column::open_in(file)?))
    };
    let ((bytes, with), (bytes_without, without)) = (encoded(None)?, encoded(Some(Technique::Tokens))?);
    let mut out = std::io::stdout();
    writeln!(out, "bytes, with ÷ without: {bytes} ÷ {bytes_without}")?;
    let row_count = with.row_count();
    let decode = |column: &Column| column.decode_text(&mut std::io::sink());
    let prefixes = |column: &Column| {
        for prefix in [&b"str"[..], b"con", b"get", b"pub"] {
            black_box(column.find_prefix(prefix)?.rows_by_scan()?);
        }
        Ok(())
    };
    let rows = |column: &Column| {
        for draw in 1..100_u64 {
            black_box(column.get(draw.wrapping_mul(0x9e37_79b9_7f4a_7c15) % row_count)?);
        }
        Ok(())
    };
    let works: [(&str, Work<'_>); 3] = [
        ("decode to text", &decode),
        ("prefixes by scan", &prefixes),
        ("rows at random", &rows),
    ];
    for (name, work) in works {
        let mut ratios = Vec::new();
        for _ in 0..pairs {
            ratios.push(seconds(work, &with)? / seconds(work, &without)?);
        }
        ratios.sort_by(f64::total_cmp);
        let (least, greatest) = (ratios[0], ratios[pairs - 1]);
        writeln!(
            out,
            "{name}: {:.2} ({least:.2} to {greatest:.2})",
            ratios[pairs / 2]
        )?;
    }
    Ok(())
}
