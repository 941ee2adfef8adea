//! A request after every check that needs no data.

use std::collections::HashSet;

use keepnet::registry::{MethodInfo, MethodSpec, Stream};
use keepnet::run::RowMissing;
use keepnet::{CheckPolicy, Error, Groups, Result};
use keepnet_io::{OpenOptions, ProblemSpec};

use super::{OrderSpec, Request, Scans, extension, text};
use crate::outputs::reduced_bed;
use crate::runner::Runner;
use crate::state;

/// A request, checked, with the files of names and groups read.
pub struct Asked<'a> {
    /// As it came.
    pub request: &'a Request,
    /// The method.
    pub method: &'static MethodInfo,
    /// What is asked of it.
    pub spec: MethodSpec,
    /// What is asked of the rows.
    pub problem: ProblemSpec,
    /// How files are read.
    pub open: OpenOptions,
    /// Features that are kept whatever happens.
    pub always: HashSet<String>,
    /// Groups of features.
    pub groups: Option<Groups>,
    /// What flows past.
    pub way: Way,
}

/// What flows past, and what becomes of missing values there.
#[derive(Clone, Debug)]
pub enum Way {
    /// Columns, and which of them are fit to be offered.
    Columns(CheckPolicy),
    /// Rows.
    Rows(RowMissing),
}

impl<'a> Asked<'a> {
    /// Checks a request that `runner` is to run.
    pub fn new(request: &'a Request, runner: &dyn Runner) -> Result<Self> {
        request.output.check()?;
        let method = request.method.info()?;
        runner.check(request, method)?;
        request.trust.check(request, method)?;
        let way = match method.stream {
            Stream::Samples => {
                refuse_on_rows(request)?;
                Way::Rows(RowMissing::parse(request.missing())?)
            }
            _ => {
                refuse_on_columns(request, method)?;
                // Neither a method that holds every column nor one that makes several scans.
                state::refuse(request, method.stream == Stream::Batch || method.scans == 0)?;
                Way::Columns(request.policy()?)
            }
        };
        let spec = request.method.spec(request.run.seed)?;
        if spec.settings.contains_key("on-full") && request.run.memory.is_none() {
            return Err(Error::param(
                "on-full",
                "given",
                "`memory=SIZE` with it, the limit it is for",
            ));
        }
        Ok(Self {
            request,
            method,
            problem: request.problem.spec(spec.loss, text::list(&request.input.key)),
            spec,
            open: request.input.options(request.run.memory)?,
            always: request.method.always()?,
            groups: request.method.groups.as_ref().map(|spec| spec.groups()).transpose()?,
            way,
        })
    }
}

/// Whether genotypes are to be written.
fn triple(request: &Request) -> bool {
    request.output.reduced.as_deref().is_some_and(reduced_bed::is_triple)
}

/// What only a stream of rows can give.
fn refuse_on_columns(request: &Request, method: &MethodInfo) -> Result<()> {
    let Request { input, method: asked, output, .. } = request;
    let score = output.output.as_ref().is_some_and(|path| extension(path) == "score");
    let given = [
        ("maf", asked.maf.is_some()),
        ("mac", asked.mac.is_some()),
        ("chr", !input.chr.is_empty()),
        ("output", score),
        ("reduced", triple(request)),
    ];
    if let Some((name, _)) = given.into_iter().find(|(_, given)| *given && !input.genotypes()) {
        let got = match name {
            "output" => "a .score",
            "reduced" => "a .bed",
            _ => "given",
        };
        return Err(Error::param(name, got, "genotypes (.bed) as the input"));
    }
    if request.output.every.is_some() {
        return Err(Error::param("every", "given", "a method on rows; see `keepnet methods`"));
    }
    if request.output.averages.is_some() {
        return Err(Error::param("averages", "given", "a method on running averages"));
    }
    match request.run.scans {
        Some(Scans::Number(0)) => Err(Error::param("scans", 0, "at least 1")),
        Some(Scans::Rest) if !method.certifies() => {
            let want =
                format!("a number with {}: only os-plus can tell that none is left", method.name);
            Err(Error::param("scans", "rest", want))
        }
        Some(Scans::Number(scans)) if scans > 1 && method.scans == 1 => {
            let got = format!("{scans}, but {} decides in one scan", method.name);
            Err(Error::param("scans", got, "1 with this method"))
        }
        _ => Ok(()),
    }
}

/// What has no meaning on a stream of rows, with what to do instead.
fn refuse_on_rows(request: &Request) -> Result<()> {
    let Request { method, run, output, .. } = request;
    let plain = "no such flag with a method on rows";
    let given = [
        ("scans", run.scans.is_some_and(|scans| scans != Scans::Number(1)), plain),
        ("order", run.order != OrderSpec::Given, plain),
        ("reduced", triple(request), "another extension: a .bed is written by methods on features"),
        ("state", run.state.is_some(), "a method on features; on rows, --averages and `merge`"),
        ("output", output.folder().is_some(), "a file: a method on rows has one target"),
        ("again", run.again, plain),
        ("max-missing", method.max_missing.is_some(), plain),
        ("min-count", method.min_count.is_some_and(|count| count != 1), plain),
        (
            "chr",
            !request.input.chr.is_empty(),
            "a method on features: a method on rows takes every variant",
        ),
        ("maf", method.maf.is_some(), plain),
        ("mac", method.mac.is_some(), plain),
        (
            "decisions",
            output.decisions.is_some(),
            "--every N with a method on rows: features are not decided on one by one",
        ),
    ];
    if let Some((name, _, want)) = given.into_iter().find(|(_, given, _)| *given) {
        return Err(Error::param(name, "given", want));
    }
    match output.every {
        Some(0) => Err(Error::param("every", 0, "at least 1")),
        _ => Ok(()),
    }
}
