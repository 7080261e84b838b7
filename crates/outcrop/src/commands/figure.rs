//! `outcrop figure RUN [NAME]`: one figure of a run, ready for a paper or a slide.

use super::report::Beside;
use crate::exit::{Ending, bad_input};
use crate::output::{self, Cell, Format, Table};
use crate::output_file::{Force, is_stdout, refuse_input};
use outcrop_report::{Figure, FileFormat, Report};
use outcrop_results::RunView;
use std::io::Write as _;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  outcrop figure runs/20261121T020304Z-profile                 the names of its figures
  outcrop figure runs/… iops-by-depth --pdf --width 84mm       iops-by-depth.pdf, one column wide
  outcrop figure runs/… iops-by-depth -o depth.png             PNG by its ending, 300 dpi
  outcrop figure runs/… iops-by-depth --svg --title 'Disk A'   your own title
  outcrop figure runs/… iops-by-depth --csv -o - | head        the values behind it, on stdout

PNG, PDF and SVG show title, subject, device, fixed factors that differ from their defaults, date, run, sample counts and what the shading means. They need no installed font; in PDF, letters are outlines.";

/// Write one figure of a run as PNG, PDF, SVG or CSV
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("form").args(["png", "pdf", "svg", "csv"]))]
pub(crate) struct Args {
    /// The run folder
    run: PathBuf,
    /// Name of the figure [default: list the names]
    name: Option<String>,
    /// PNG, 300 dots per inch
    #[arg(long)]
    png: bool,
    /// PDF, for LaTeX and print
    #[arg(long)]
    pdf: bool,
    /// SVG, for the web and for editing
    #[arg(long)]
    svg: bool,
    /// CSV: the values, with intervals and sample counts where the figure draws medians
    #[arg(long)]
    csv: bool,
    /// Width on paper, in mm or cm [default: 150mm]
    #[arg(long, value_name = "WIDTH", value_parser = millimetres)]
    width: Option<f64>,
    /// Title above the drawing [default: the figure's own]
    #[arg(long, value_name = "TEXT", requires = "name")]
    title: Option<String>,
    /// File to write, or - for stdout; without --png, --pdf, --svg or --csv, its ending decides [default: the figure's name in the working directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: Force,
    #[command(flatten)]
    beside: Beside,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Ending> {
    let view = RunView::load(&args.run).map_err(bad_input)?;
    let report = Report::beside(&view, args.beside.checked()?);
    let figures = report.figures();
    let has = || match figures.as_slice() {
        [] => "none".to_owned(),
        figures => figures
            .iter()
            .map(|figure| figure.id.as_str())
            .collect::<Vec<_>>()
            .join(", "),
    };
    let is_to_write = args.png || args.pdf || args.svg || args.csv || args.output.is_some();
    let Some(name) = &args.name else {
        if is_to_write {
            return Err(bad_input(anyhow::anyhow!(
                "name the figure to write behind the run; it has {}",
                has()
            )));
        }
        list(&figures)?;
        return Ok(Ending::Done);
    };
    let Some(figure) = figures.iter().find(|figure| figure.id == *name) else {
        return Err(bad_input(anyhow::anyhow!(
            "this run has no figure {name:?}; it has {}",
            has()
        )));
    };
    let (format, ending) = args.format()?;
    let of_drawings = [("title", args.title.is_some()), ("width", args.width.is_some())];
    if let Some((what, _)) = of_drawings
        .iter()
        .find(|(_, is_given)| *is_given && format == FileFormat::Csv)
    {
        return Err(bad_input(anyhow::anyhow!(
            "CSV has no {what}: leave --{what} out"
        )));
    }
    args.beside.note_absence(&figures, Some(*figure));
    let figure = match &args.title {
        Some(title) => &figure.titled(title),
        None => *figure,
    };
    let bytes = figure
        .to_file(
            format,
            args.width.unwrap_or(WIDTH_MM),
            &report.label_of(&figure.id),
        )
        .map_err(bad_input)?;
    write(args, figure, ending, &bytes)?;
    Ok(Ending::Done)
}

/// The names that `figure` takes.
fn list(figures: &[&Figure]) -> anyhow::Result<()> {
    let mut table = Table::new([("figure", "figure"), ("what it shows", "title")]);
    for figure in figures {
        table.push(vec![Cell::text(&figure.id), Cell::text(&figure.title)]);
    }
    table.print(Format::Text)
}

/// Writes the file, or stdout; a terminal shows text only.
fn write(args: &Args, figure: &Figure, ending: &str, bytes: &[u8]) -> anyhow::Result<()> {
    let path = match &args.output {
        Some(path) if is_stdout(path) => {
            let mut stdout = output::stdout();
            if stdout.is_terminal() && (args.png || args.pdf) {
                return Err(bad_input(anyhow::anyhow!(
                    "a terminal cannot show a {ending} file: redirect stdout, or give -o FILE"
                )));
            }
            stdout.write_all(bytes)?;
            stdout.flush()?;
            return Ok(());
        }
        Some(path) => path.clone(),
        None => PathBuf::from(format!("{}.{ending}", figure.id)),
    };
    refuse_input(&args.run, &path)?;
    args.force.write(&path, |out| Ok(out.write_all(bytes)?))?;
    output::to_stdout(format!("{}\n", path.display()).as_bytes())
}

impl Args {
    /// The form that a flag asks for, or the ending of the file; an error where they differ, or where neither says it.
    fn format(&self) -> anyhow::Result<(FileFormat, &'static str)> {
        let by_flag = [self.png, self.pdf, self.svg, self.csv];
        let flagged = by_flag.iter().position(|is_set| *is_set);
        let file = self.output.as_deref().filter(|path| !is_stdout(path));
        let ending = file.and_then(|path| path.extension()?.to_str());
        let by_ending = ending.and_then(|ending| {
            FORMS
                .iter()
                .position(|(_, known)| known.eq_ignore_ascii_case(ending))
        });
        match (flagged, by_ending) {
            (Some(flag), Some(named)) if flag != named => Err(bad_input(anyhow::anyhow!(
                "the file ends with .{}, but --{} was given: leave one of them out, or make them agree",
                FORMS[named].1,
                FORMS[flag].1
            ))),
            (Some(form), _) | (None, Some(form)) => Ok(FORMS[form]),
            (None, None) => Err(bad_input(anyhow::anyhow!(
                "which form? Add --png, --pdf, --svg or --csv, or -o with a file name that ends with one of them"
            ))),
        }
    }
}

/// Width of a drawing where none is asked for.
const WIDTH_MM: f64 = 150.0;

/// Each form with its ending, in the order of the flags.
const FORMS: [(FileFormat, &str); 4] = [
    (FileFormat::Png, "png"),
    (FileFormat::Pdf, "pdf"),
    (FileFormat::Svg, "svg"),
    (FileFormat::Csv, "csv"),
];

/// Reads `84mm` or `8.4cm`.
fn millimetres(text: &str) -> Result<f64, String> {
    let parsed = match (text.strip_suffix("mm"), text.strip_suffix("cm")) {
        (Some(number), _) => number.trim().parse::<f64>().ok(),
        (_, Some(number)) => number.trim().parse::<f64>().ok().map(|cm| cm * 10.0),
        _ => None,
    };
    let width = parsed.filter(|width| width.is_finite() && *width > 0.0);
    width.ok_or_else(|| {
        format!("{text:?} is not a width; expected millimetres or centimetres, as in 84mm or 17.8cm")
    })
}
