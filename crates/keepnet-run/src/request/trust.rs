//! How far the selection can be trusted: the choice of its size, and what is said of its errors.

use keepnet::registry::{MethodInfo, Stream};
use keepnet::{Error, Result};
use keepnet_eval::trust::correction::Correction;
use serde::Deserialize;

use super::text::{self, FromText};
use super::{Request, Scans};

/// What is asked beyond one selection.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Trust"))]
pub struct TrustRequest {
    /// How -k 5,10,20 or -k auto chooses: cv, cv-min or ebic [default: cv, the smallest k within a standard error of the best]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY", value_parser = text::read::<Choose>))]
    pub choose: Option<Choose>,
    /// Folds of cv and cv-min [default: 5]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub folds: Option<usize>,
    /// Set this share of the rows aside before anything else and report their loss [default: none] [example: 0.2]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SHARE"))]
    pub holdout: Option<f64>,
    /// Select on B pairs of halves of the rows and keep what a SHARE of them selects [default: none; SHARE 0.75] [example: 50 or 50:0.9]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "B[:SHARE]", value_parser = text::read::<Pairs>))]
    pub stability: Option<Pairs>,
    /// Test what was selected on a SHARE of the rows that did not choose it: split (p-values and intervals) or knockoffs [default: none; SHARE 0.5]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "KIND[:SHARE]", value_parser = text::read::<Inferring>))]
    pub inference: Option<Inferring>,
    /// How --inference split adjusts p-values for their number: holm, bh or none [default: holm]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME", value_parser = text::read::<Correction>))]
    pub correction: Option<Correction>,
    /// Draws of --inference knockoffs [default: 1]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "M"))]
    pub repeats: Option<usize>,
    /// Select from N permuted targets in the same reads, and compare their losses [default: 0]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub null: Option<usize>,
}

/// Pairs of halves, and the least share of the halves that a feature has to be selected by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairs {
    /// How many pairs.
    pub count: usize,
    /// The share.
    pub share: f64,
}

impl FromText for Pairs {
    fn from_text(text: &str) -> Result<Self> {
        let want = "B or B:SHARE, with 2 to 500 pairs and a share above 0.5 and up to 1";
        let wrong = || Error::param("stability", text, want);
        let (count, share) = text.split_once(':').unwrap_or((text, "0.75"));
        let count = count.trim().parse().ok().filter(|count| (2..=500).contains(count));
        let share = share.trim().parse().ok().filter(|share| *share > 0.5 && *share <= 1.0);
        Ok(Self { count: count.ok_or_else(wrong)?, share: share.ok_or_else(wrong)? })
    }
}

/// What is tested on rows that did not choose, and their share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inferring {
    /// How.
    pub kind: InferenceKind,
    /// The share of the rows for it.
    pub share: f64,
}

/// How features are tested on rows that did not choose them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InferenceKind {
    /// Each coefficient by its standard error.
    Split,
    /// Each column against its knockoff.
    Knockoffs,
}

impl FromText for Inferring {
    fn from_text(text: &str) -> Result<Self> {
        let wrong = || Error::param("inference", text, "split or knockoffs, or with :SHARE");
        let (kind, share) = text.split_once(':').unwrap_or((text, "0.5"));
        let kind = match kind {
            "split" => InferenceKind::Split,
            "knockoffs" => InferenceKind::Knockoffs,
            _ => return Err(wrong()),
        };
        let share = share.trim().parse().ok().filter(|share| *share > 0.0 && *share < 1.0);
        Ok(Self { kind, share: share.ok_or_else(wrong)? })
    }
}

impl FromText for Correction {
    fn from_text(text: &str) -> Result<Self> {
        let all = [Self::Holm, Self::Bh, Self::None];
        let known = all.into_iter().find(|way| way.name() == text);
        known.ok_or_else(|| Error::param("correction", text, "holm, bh or none"))
    }
}

/// Most lanes on permuted targets.
const NULLS: usize = 1000;

/// How the size is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choose {
    /// The smallest size whose cross-validated loss is within a standard error of the least.
    #[default]
    Cv,
    /// The size of the least cross-validated loss.
    CvMin,
    /// The size of the least extended Bayesian information criterion.
    Ebic,
}

impl Choose {
    /// The name on the command line and in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cv => "cv",
            Self::CvMin => "cv-min",
            Self::Ebic => "ebic",
        }
    }
}

impl FromText for Choose {
    fn from_text(text: &str) -> Result<Self> {
        let all = [Self::Cv, Self::CvMin, Self::Ebic];
        let known = all.into_iter().find(|way| way.name() == text);
        known.ok_or_else(|| Error::param("choose", text, "cv, cv-min or ebic"))
    }
}

/// Folds unless another number is asked for.
const FOLDS: usize = 5;

impl TrustRequest {
    /// Folds of cross-validation.
    #[must_use]
    pub fn folds(&self) -> usize {
        self.folds.unwrap_or(FOLDS)
    }

    /// Whether anything is asked that goes beyond one selection from all rows.
    #[must_use]
    pub fn any(&self) -> bool {
        self.given().iter().any(|(_, given)| *given)
    }

    /// Each flag by name, and whether it was given.
    #[must_use]
    pub fn given(&self) -> [(&'static str, bool); 8] {
        [
            ("choose", self.choose.is_some()),
            ("folds", self.folds.is_some()),
            ("holdout", self.holdout.is_some()),
            ("stability", self.stability.is_some()),
            ("inference", self.inference.is_some()),
            ("correction", self.correction.is_some()),
            ("repeats", self.repeats.is_some()),
            ("null", self.null.is_some_and(|lanes| lanes > 0)),
        ]
    }

    /// Refuses what has no meaning, or no described one, in this request.
    pub fn check(&self, request: &Request, method: &MethodInfo) -> Result<()> {
        let chosen = request.method.k.as_ref().is_some_and(super::Size::chosen);
        if method.stream == Stream::Samples {
            if let Some((name, _)) = self.given().into_iter().find(|(_, given)| *given) {
                let want = "a method on features; on rows -k auto chooses the size by --set choose";
                return Err(Error::param(name, "given", want));
            }
            return Ok(());
        }
        for (name, given) in [("choose", self.choose.is_some()), ("folds", self.folds.is_some())] {
            if given && !chosen {
                let want = "a size to choose: -k 5,10,20 or -k auto";
                return Err(Error::param(name, "given", want));
            }
        }
        if self.folds.is_some() && self.choose == Some(Choose::Ebic) {
            return Err(Error::param("folds", "given", "--choose cv or cv-min: ebic has no folds"));
        }
        if let Some(folds) = self.folds.filter(|folds| *folds < 2) {
            return Err(Error::param("folds", folds, "at least 2"));
        }
        if let Some(share) = self.holdout.filter(|share| !(*share > 0.0 && *share < 1.0)) {
            return Err(Error::param("holdout", share, "a share between 0 and 1"));
        }
        self.check_inference(request, method)?;
        self.check_pairs(request, chosen)?;
        if let Some(lanes) = self.null.filter(|lanes| *lanes > NULLS) {
            return Err(Error::param("null", lanes, format!("at most {NULLS} lanes")));
        }
        let gamma = request.method.gamma()?.is_some();
        if gamma && self.choose != Some(Choose::Ebic) {
            return Err(Error::param("gamma", "given", "--choose ebic, whose setting it is"));
        }
        if chosen {
            self.check_lanes("a list of sizes", request, method)?;
        }
        if self.stability.is_some() {
            self.check_lanes("--stability", request, method)?;
        }
        Ok(())
    }

    /// Refuses `--level`, `--correction` and `--repeats` where nothing takes them.
    fn check_inference(&self, request: &Request, method: &MethodInfo) -> Result<()> {
        let kind = self.inference.map(|inference| inference.kind);
        if self.correction.is_some() && kind != Some(InferenceKind::Split) {
            return Err(Error::param("correction", "given", "--inference split"));
        }
        if self.repeats.is_some() && kind != Some(InferenceKind::Knockoffs) {
            return Err(Error::param("repeats", "given", "--inference knockoffs"));
        }
        if let Some(repeats) = self.repeats.filter(|repeats| !(1..=1000).contains(repeats)) {
            return Err(Error::param("repeats", repeats, "1 to 1000"));
        }
        let Some(level) = request.method.level else { return Ok(()) };
        if kind.is_none() && !method.has("level") {
            let want = "--inference, or a method that controls errors";
            return Err(Error::param("level", "given", want));
        }
        match level > 0.0 && level < 1.0 {
            true => Ok(()),
            false => Err(Error::param("level", level, "a level between 0 and 1")),
        }
    }

    /// Refuses pairs of what works around a method that nobody has described.
    fn check_pairs(&self, request: &Request, chosen: bool) -> Result<()> {
        let around = [
            ("k", chosen),
            ("stability", self.stability.is_some()),
            ("inference", self.inference.is_some()),
            ("null", self.null.is_some_and(|lanes| lanes > 0)),
            ("checkpoint", request.run.checkpoint.is_some()),
            ("state", request.run.state.is_some()),
            ("scans", request.run.scans == Some(Scans::Rest)),
        ];
        let mut given = around.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        // A state or a checkpoint of one lane goes with --scans rest or not, as they decide.
        let around = around[..4].iter().any(|(_, given)| *given);
        if let (true, Some(first), Some(second)) = (around, given.next(), given.next()) {
            let first = if first == "k" { "a choice of k".into() } else { format!("--{first}") };
            let want = "one of the two: what both mean together is not defined";
            return Err(Error::param(second, format!("given with {first}"), want));
        }
        let alone =
            self.stability.is_some() || self.inference.is_some() || request.run.state.is_some();
        match self.holdout.is_some() && alone {
            true => {
                let want = "no --stability and no --inference, which have rows of their own, and no --state";
                Err(Error::param("holdout", "given", want))
            }
            false => Ok(()),
        }
    }

    fn check_lanes(&self, what: &str, request: &Request, method: &MethodInfo) -> Result<()> {
        let chosen = self.stability.is_none();
        if chosen && !method.takes_k() {
            let got = format!("a list, but {} has no size", method.name);
            return Err(Error::param("k", got, "a method that keeps k features"));
        }
        let simulated = |(name, value): &(String, keepnet::Value)| {
            name == "centre" && value.to_string() == "simulated"
        };
        if method.has("centre") && !request.method.settings.iter().any(simulated) {
            let want = "centre=simulated: on threads each run has another answer";
            return Err(Error::param("centre", format!("threads with {what}"), want));
        }
        match request.output.decisions.is_some() {
            true => {
                let want = "one selection: which of several counts is known only at the end";
                Err(Error::param("decisions", format!("given with {what}"), want))
            }
            false => Ok(()),
        }
    }
}
