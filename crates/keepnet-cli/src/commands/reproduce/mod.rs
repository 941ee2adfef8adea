//! `keepnet reproduce`: the papers' figures and tables, published and ours side by side.

mod adaptation;
mod averages;
mod bench;
mod os;
mod picture;
mod regret;
mod saola;

use keepnet::{Error, Result};

use keepnet_run::lock::Lock;
use keepnet_run::outputs::inputs::Inputs;
use keepnet_run::outputs::journal::{self, Journal};
use keepnet_run::outputs::{self as files, atomic};
use keepnet_run::request::need_extension;
use keepnet_run::request::text::by_key;
use keepnet_run::result::table;
use keepnet_run::terminal::say::print;

use crate::flags::ReproduceArgs;
use bench::Bench;

/// One figure or table.
pub struct Figure {
    name: &'static str,
    what: &'static str,
    /// Repeats unless asked otherwise.
    repeats: u64,
    /// Settings it knows.
    settings: &'static [&'static str],
    /// How long the default takes, and the paper's own repeats.
    time: &'static str,
    /// What the reader must know beside the numbers.
    remark: &'static str,
    run: fn(&mut Bench) -> Result<()>,
}

/// Every figure.
const FIGURES: &[Figure] = &[
    os::FIGURE_1,
    os::FIGURE_2,
    os::FIGURE_3,
    saola::accuracy::TABLE_3,
    saola::accuracy::TABLE_4,
    saola::accuracy::TABLE_5,
    saola::sizes::TABLE_6,
    saola::sizes::TABLE_7,
    saola::accuracy::TABLE_8,
    saola::shapes::TABLE_9,
    saola::batch::TABLE_10,
    saola::batch::TABLE_11,
    saola::batch::TABLE_12,
    saola::batch::TABLE_13,
    saola::batch::TABLE_14,
    saola::batch::TABLE_15,
    saola::batch::TABLE_16,
    saola::batch::TABLE_17,
    saola::batch::CURVES,
    saola::accuracy::BARS,
    saola::stability::FIGURE,
    saola::accuracy::TABLE_18,
    saola::sizes::TABLE_19,
    saola::accuracy::TABLE_20,
    saola::accuracy::TABLE_21,
    saola::accuracy::TABLE_22,
    saola::sizes::TABLE_23,
    saola::shapes::SHAPES,
    averages::REGRESSION,
    averages::CLASSIFICATION,
    averages::TIME,
    averages::LARGE,
    regret::FIGURE,
    adaptation::FIGURE,
];

/// Figures that are not there, and why.
const ABSENT: &[(&[&str], &str)] =
    &[(&["os-4"], "needs the privacy images of its authors, which are not public here")];

/// Runs a figure, or lists them.
pub fn run(args: &ReproduceArgs) -> Result<()> {
    let Some(name) = args.figure.as_deref().filter(|_| !args.list) else { return print(&list()) };
    let figure = find(name)?;
    let settings = by_key(&args.settings)?;
    if let Some(name) = settings.keys().find(|name| !figure.settings.contains(&name.as_str())) {
        let got = format!("{name} ({} knows {})", figure.name, known(figure));
        return Err(Error::param("--set", got, "a setting of the figure"));
    }
    if args.repeats == Some(0) {
        return Err(Error::param("repeats", 0, "at least 1"));
    }
    if let Some(picture) = &args.picture {
        need_extension("picture", picture, &["svg"], ".svg")?;
    }
    let journal = args.output.as_deref().map(journal::beside);
    let data = args.data.as_ref().map(|data| data.join("*.parquet").display().to_string());
    let outputs = [("output", &args.output), ("picture", &args.picture), ("output", &journal)];
    files::ready(&files::given(outputs), &Inputs::default().with("--data", &data))?;
    let _lock = Lock::take(journal.as_deref())?;
    let repeats = args.repeats.unwrap_or(figure.repeats);
    let version = env!("CARGO_PKG_VERSION");
    let identity = format!("keepnet {version} {} {settings:?}", figure.name);
    let journal = Journal::beside(args.output.as_deref(), &identity)?;
    let mut bench = Bench::new(repeats, args.data.clone(), settings, journal, args.quiet);
    keepnet_run::system::with_threads(args.threads, || (figure.run)(&mut bench))?;
    bench.done();
    let cells = bench.cells();
    let seconds = bench.seconds();
    print(&format!("{}: {}\n\n{}", figure.name, figure.what, table::aligned(&cells)))?;
    print(&format!("\n{}\n{seconds:.0} s; {}\n", figure.remark, figure.time))?;
    if let Some(output) = &args.output {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &cells {
            writer.write_record(row).map_err(|error| Error::Data(error.to_string()))?;
        }
        let bytes = writer.into_inner().map_err(|error| Error::Data(error.to_string()))?;
        atomic::write(output, &bytes)?;
    }
    if let Some(picture) = &args.picture {
        atomic::write(picture, picture::draw(figure.name, &bench.rows)?.as_bytes())?;
    }
    bench.into_journal().remove();
    Ok(())
}

fn known(figure: &Figure) -> String {
    match figure.settings {
        [] => "none".into(),
        settings => settings.join(", "),
    }
}

fn find(name: &str) -> Result<&'static Figure> {
    if let Some(figure) = FIGURES.iter().find(|figure| figure.name == name) {
        return Ok(figure);
    }
    if let Some((_, why)) = ABSENT.iter().find(|(absent, _)| absent.contains(&name)) {
        return Err(Error::Unsupported(format!("{name} {why}")));
    }
    Err(Error::param("figure", format!("{name:?}"), "a name from `keepnet reproduce --list`"))
}

fn list() -> String {
    let mut rows = vec![["figure", "repeats", "--set", "what it shows"].map(String::from).to_vec()];
    for figure in FIGURES {
        let what = format!("{} ({})", figure.what, figure.time);
        rows.push(vec![figure.name.into(), figure.repeats.to_string(), known(figure), what]);
    }
    let mut out = table::aligned(&rows) + "\nNot there:\n";
    for (names, why) in ABSENT {
        out += &format!("  {}: {why}\n", names.join(", "));
    }
    out
}
