//! Which method, and what it may keep.

use std::collections::HashSet;

use keepnet::registry::{self, MethodInfo, MethodSpec, Stream};
use keepnet::{CheckPolicy, Error, Groups, LossKind, Missing, Result, Value};
use serde::Deserialize;

use super::text::{self, FromText, Names};

/// Which method, and its settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Method"))]
pub struct MethodRequest {
    /// Number of features to keep [example: -k 100]
    #[cfg_attr(feature = "terminal", arg(short = 'k', value_name = "K"))]
    pub k: Option<usize>,
    /// Method; `keepnet methods` lists them [default: os-plus]
    #[serde(rename = "name")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME"))]
    pub method: Option<String>,
    /// A setting of the method; may be repeated; `keepnet methods NAME` lists them [example: --set reserve=0]
    #[serde(deserialize_with = "text::settings")]
    #[cfg_attr(feature = "terminal", arg(long = "set", value_name = "KEY=VALUE", value_parser = text::setting))]
    pub settings: Vec<(String, Value)>,
    /// squared, squared-hinge, logistic or squared-epsilon [default: by task and method]
    #[serde(deserialize_with = "text::optional")]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME", value_parser = text::read::<LossKind>))]
    pub loss: Option<LossKind>,
    /// How statistical methods compare: su, mi, fisher-z, g2 or auto [default: auto, by the types of the columns]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAME"))]
    pub measure: Option<String>,
    /// Groups of features: a file of feature,group lines, prefix:SEP or block:N [default: none] [example: prefix:_]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SPEC", value_parser = text::read::<GroupSpec>))]
    pub groups: Option<GroupSpec>,
    /// A statistical method at --memory: error, or evict to let the weakest feature go [default: error]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY"))]
    pub on_full: Option<String>,
    /// Features kept whatever happens, not counted in k: names or @FILE [default: none] [example: age,sex]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAMES", value_parser = text::read::<Names>))]
    pub always: Vec<Names>,
    /// Missing values: error, drop-feature, mean, zero or indicator [default: error]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY"))]
    pub missing: Option<String>,
    /// Drop features with a larger share of missing values [default: no limit] [example: 0.1]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SHARE"))]
    pub max_missing: Option<f64>,
    /// Drop features with fewer rows off their commonest value [default: 1] [example: 20]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub min_count: Option<usize>,
    /// Whether columns are taken as whole numbers, where the caller knows better than the types.
    #[cfg_attr(feature = "terminal", arg(skip))]
    pub integral: Option<bool>,
}

/// Groups of features, as the user gives them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum GroupSpec {
    /// `prefix:SEP`, `block:N`, or a file of feature,group lines.
    Text(String),
    /// Pairs of feature and group.
    Pairs(Vec<(String, String)>),
}

impl FromText for GroupSpec {
    fn from_text(text: &str) -> Result<Self> {
        Ok(Self::Text(text.into()))
    }
}

impl GroupSpec {
    /// The groups; a file is read.
    pub fn groups(&self) -> Result<Groups> {
        match self {
            Self::Pairs(pairs) => Groups::table(pairs.iter().cloned()),
            Self::Text(text) => match Groups::parse(text)? {
                Some(groups) => Ok(groups),
                None => Groups::table(text::table(text)?).map_err(|error| error.at(text)),
            },
        }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn text(&self) -> Option<&String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Pairs(_) => None,
        }
    }
}

impl MethodRequest {
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

    /// What is asked of the method; everything that can be wrong without data is found here.
    pub fn spec(&self, seed: u64) -> Result<MethodSpec> {
        let info = self.info()?;
        if self.loss.is_some() && !info.has_loss {
            let got = format!("given, but {} has no loss", info.name);
            return Err(Error::param("loss", got, "no --loss with this method"));
        }
        let mut settings = text::by_key(&self.settings)?;
        for (name, value) in [("measure", &self.measure), ("on-full", &self.on_full)] {
            let Some(value) = value else { continue };
            if !info.has(name) {
                let got = format!("given, but {} has none", info.name);
                return Err(Error::param(name, got, "a method that knows it; see keepnet methods"));
            }
            settings.insert(name.into(), value.clone().into());
        }
        if info.stream == Stream::Groups && self.groups.is_none() {
            let want = "--groups FILE, prefix:SEP or block:N with this method";
            return Err(Error::param("groups", "not given", want));
        }
        settings.keys().try_for_each(|name| info.setting(name).map(|_| ()))?;
        let (k, loss) = (self.k, self.loss);
        let spec = MethodSpec { k, loss, seed, settings, ..MethodSpec::default() };
        if info.needs_k || spec.k == Some(0) {
            spec.need_k()?;
        }
        Ok(spec)
    }

    /// What becomes of missing values, by name.
    #[must_use]
    pub fn missing(&self) -> &str {
        self.missing.as_deref().unwrap_or("error")
    }

    /// Which columns are fit to be offered.
    pub fn policy(&self) -> Result<CheckPolicy> {
        let missing = Missing::parse(self.missing())?;
        if let Some(share) = self.max_missing.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(Error::param("max-missing", share, "a share from 0 to 1"));
        }
        let min_count = self.min_count.unwrap_or(1);
        Ok(CheckPolicy { missing, max_missing: self.max_missing, min_count })
    }

    /// Names of features that are kept whatever happens.
    pub fn always(&self) -> Result<HashSet<String>> {
        text::names(&self.always).map(|names| names.into_iter().collect())
    }
}
