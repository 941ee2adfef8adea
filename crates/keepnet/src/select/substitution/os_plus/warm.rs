//! The kept columns out of a selector and into another: a start without a scan, and a model as
//! bytes.
//!
//! A settled model is a function of its columns in their order, so it can travel in two parts:
//! columns that are there already, and an outline of `O(k^2)` numbers. Who takes it up has the
//! same digits in every test.

use super::exact_test::ensure_sound;
use super::{OsPlus, OsPlusParams, block};
use crate::data::block::FeatureId;
use crate::data::check::Feature;
use crate::data::kept::Kept;
use crate::data::target::Problem;
use crate::error::{Error, Result};
use crate::run::budget::Budget;
use crate::run::snapshot::{self, Identity, Snapshot, decode, encode};
use crate::select::Verdict;

impl OsPlus {
    /// The kept columns in the width they are stored in, in the order of the kept list: covariates,
    /// pinned features, the model's features.
    #[must_use]
    pub fn kept_columns(&self) -> Vec<&Kept> {
        let slots = self.core.kept().slots();
        self.core.model().into_iter().map(|slot| &slots[slot]).collect()
    }

    /// Takes these features in, on a selector that has none yet: no more than `k` beside those that
    /// are pinned. The model is then at its optimum and ready for the next block.
    pub fn start(&mut self, features: &[Feature<'_>]) -> Result<()> {
        let count = features.iter().filter(|feature| !feature.pinned).count();
        if count > self.params.k {
            let got = format!("{count} columns with k = {}", self.params.k);
            return Err(Error::param("start", got, "at most `k` columns"));
        }
        if self.core.kept().len() > self.core.kept().covariates() {
            return Err(Error::param("start", "given", "a selector that holds nothing yet"));
        }
        let mut out = Vec::new();
        block::offer_block(&mut *self.core, &mut self.products, &self.frame, features, &mut out)?;
        let lost = features.iter().zip(&out).find(|(_, outcome)| outcome.verdict != Verdict::Kept);
        if let Some((feature, _)) = lost {
            let name = &feature.name;
            let why = "is a combination of the columns before it, or comes twice; leave it out";
            return Err(Error::Data(format!("column {name:?} of the start {why}")));
        }
        self.core.settle()
    }

    /// Brings the model to its optimum, in digits that depend on the kept columns and their order
    /// alone.
    pub fn settle(&mut self) -> Result<()> {
        self.core.settle()
    }

    /// The loss of the model, penalty included.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.core.status().loss.unwrap_or_default()
    }

    /// Every column held, in the order that [`OsPlus::redraw`] takes them.
    #[must_use]
    pub fn held(&self) -> &[Kept] {
        self.core.kept().slots()
    }

    /// All of a settled model but its columns.
    pub fn outline(&self) -> Result<Vec<u8>> {
        self.core.outline()
    }

    /// Takes up a model of which another selector with the same settings and problem gave
    /// [`OsPlus::outline`] and [`OsPlus::held`].
    pub fn redraw(&mut self, outline: &[u8], held: Vec<Kept>) -> Result<()> {
        ensure_sound(&held, self.frame.n())?;
        self.core.redraw(outline, held)
    }

    /// The whole model as bytes, with the version that wrote it.
    pub fn model_bytes(&self) -> Result<Vec<u8>> {
        snapshot::seal(&self.identity()?, &self.save()?)
    }

    /// A selector that goes on from [`OsPlus::model_bytes`], with the same settings and problem.
    pub fn from_model_bytes(
        params: OsPlusParams,
        problem: &Problem,
        budget: Budget,
        bytes: &[u8],
    ) -> Result<Self> {
        let mut new = Self::new(params, problem, budget)?;
        let state = snapshot::open(&new.identity()?, bytes)?;
        new.restore(state)?;
        Ok(new)
    }

    fn identity(&self) -> Result<Identity> {
        let OsPlusParams { k, theta, ridge, intercept, .. } = &self.params;
        let reserve = self.reserve;
        let (loss, n) = (self.outputs.kind.name(), self.frame.n());
        let theta = theta.map_or("auto".into(), |theta| theta.to_string());
        let settings = format!(
            "os-plus k={k} reserve={reserve} theta={theta} loss={loss} ridge={ridge} \
             intercept={intercept} rows={n}"
        );
        let target = encode(&(&self.outputs.y, self.frame.weight()))?;
        let problem = u64::from(crc32fast::hash(&target));
        let version = env!("CARGO_PKG_VERSION").into();
        Ok(Identity { version, data: 0, problem, settings })
    }
}

/// One held column as bytes.
pub fn column_bytes(column: &Kept) -> Result<Vec<u8>> {
    encode(column)
}

/// A column out of [`column_bytes`]; `place` is taken instead of its own where it is given.
pub fn column_from_bytes(bytes: &[u8], place: Option<FeatureId>) -> Result<Kept> {
    let mut column: Kept = decode(bytes)?;
    column.id = place.or(column.id);
    Ok(column)
}
