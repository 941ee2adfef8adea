//! Which method, and what it may keep.

use std::collections::HashSet;

use clap::Args;
use keepnet::registry::{self, MethodInfo, MethodSpec, Stream};
use keepnet::{CheckPolicy, Error, Groups, LossKind, Missing, Result};

use super::parse::{names, pairs, table};

/// Which method, and its settings.
#[derive(Args)]
#[command(next_help_heading = "Method")]
pub struct MethodFlags {
    /// Number of features to keep [example: -k 100]
    #[arg(short = 'k', value_name = "K")]
    pub k: Option<usize>,
    /// Method; `keepnet methods` lists them [default: os-plus]
    #[arg(long, value_name = "NAME")]
    pub method: Option<String>,
    /// A setting of the method; may be repeated; `keepnet methods NAME` lists them [example: --set reserve=0]
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// squared, squared-hinge, logistic or squared-epsilon [default: by task and method]
    #[arg(long, value_name = "NAME")]
    pub loss: Option<String>,
    /// How statistical methods compare: su, mi, fisher-z, g2 or auto [default: auto, by the types of the columns]
    #[arg(long, value_name = "NAME")]
    pub measure: Option<String>,
    /// Groups of features: a file of feature,group lines, prefix:SEP or block:N [default: none] [example: prefix:_]
    #[arg(long, value_name = "SPEC")]
    pub groups: Option<String>,
    /// A statistical method at --memory: error, or evict to let the weakest feature go [default: error]
    #[arg(long, value_name = "WAY")]
    pub on_full: Option<String>,
    /// Features kept whatever happens, not counted in k: names or @FILE [default: none] [example: age,sex]
    #[arg(long, value_name = "NAMES")]
    pub always: Vec<String>,
    /// Missing values: error, drop-feature, mean, zero or indicator [default: error]
    #[arg(long, value_name = "WAY", default_value = "error", hide_default_value = true)]
    pub missing: String,
    /// Drop features with a larger share of missing values [default: no limit] [example: 0.1]
    #[arg(long, value_name = "SHARE")]
    pub max_missing: Option<f64>,
    /// Drop features with fewer rows off their commonest value [default: 1] [example: 20]
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true)]
    pub min_count: usize,
}

impl MethodFlags {
    /// The method, named or by default.
    pub fn info(&self) -> Result<&'static MethodInfo> {
        match &self.method {
            Some(name) => registry::find(name),
            None => registry::methods()
                .first()
                .copied()
                .ok_or_else(|| Error::Unsupported("this program has no method".into())),
        }
    }

    /// The loss, where one was named.
    pub fn loss(&self) -> Result<Option<LossKind>> {
        self.loss.as_deref().map(LossKind::parse).transpose()
    }

    /// What is asked of the method; everything that can be wrong without data is found here.
    pub fn spec(&self, seed: u64) -> Result<MethodSpec> {
        let info = self.info()?;
        let loss = self.loss()?;
        if loss.is_some() && !info.has_loss {
            let got = format!("given, but {} has no loss", info.name);
            return Err(Error::param("loss", got, "no --loss with this method"));
        }
        let mut settings = pairs(&self.settings)?;
        for (name, value) in [("measure", &self.measure), ("on-full", &self.on_full)] {
            let Some(value) = value else { continue };
            if !info.has(name) {
                let got = format!("given, but {} has none", info.name);
                return Err(Error::param(name, got, "a method that knows it; see keepnet methods"));
            }
            settings.insert(name.into(), value.clone());
        }
        if info.stream == Stream::Groups && self.groups.is_none() {
            let want = "--groups FILE, prefix:SEP or block:N with this method";
            return Err(Error::param("groups", "not given", want));
        }
        settings.keys().try_for_each(|name| info.setting(name).map(|_| ()))?;
        let settings = settings.into_iter().map(|(name, text)| (name, text.into())).collect();
        let spec = MethodSpec { k: self.k, loss, seed, settings, ..MethodSpec::default() };
        if info.needs_k || spec.k == Some(0) {
            spec.need_k()?;
        }
        Ok(spec)
    }

    /// Which columns are fit to be offered.
    pub fn policy(&self) -> Result<CheckPolicy> {
        let missing = Missing::parse(&self.missing)?;
        if let Some(share) = self.max_missing.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(Error::param("max-missing", share, "a share from 0 to 1"));
        }
        Ok(CheckPolicy { missing, max_missing: self.max_missing, min_count: self.min_count })
    }

    /// The groups that `--groups` names.
    pub fn groups(&self) -> Result<Option<Groups>> {
        self.groups.as_deref().map(groups).transpose()
    }

    /// Names of features that are kept whatever happens.
    pub fn always(&self) -> Result<HashSet<String>> {
        names(&self.always).map(|names| names.into_iter().collect())
    }
}

/// The groups that `--groups` names.
pub fn groups(text: &str) -> Result<Groups> {
    match Groups::parse(text)? {
        Some(groups) => Ok(groups),
        None => Groups::table(table(text)?).map_err(|error| error.at(text)),
    }
}
