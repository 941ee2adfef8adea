//! Which method, and what it may keep.

use std::collections::HashSet;

use keepnet::registry::{self, MethodInfo, MethodSpec, Stream};
use keepnet::{CheckPolicy, Error, Groups, LossKind, Missing, Result, Value};
use serde::Deserialize;

use super::size::Size;
use super::text::{self, FromText, Names};

/// Which method, and its settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "terminal", derive(clap::Args), command(next_help_heading = "Method"))]
pub struct MethodRequest {
    /// Number of features to keep; a list such as 5,10,20 or auto chooses one [example: -k 100]
    #[cfg_attr(feature = "terminal", arg(short = 'k', value_name = "K", value_parser = text::read::<Size>))]
    pub k: Option<Size>,
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
    /// Groups of features: a file of feature,group lines, prefix:SEP, block:N, or stream for the group field of arrow-columns [default: none] [example: prefix:_]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SPEC", value_parser = text::read::<GroupSpec>))]
    pub groups: Option<GroupSpec>,
    /// A statistical method at --memory: error, or evict to let the weakest feature go [default: error]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY"))]
    pub on_full: Option<String>,
    /// Level of whatever controls errors: --inference, or the method [default: 0.05 of --inference, the method's own]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "Q"))]
    pub level: Option<f64>,
    /// Features kept whatever happens, not counted in k: names or @FILE, also a result [default: none] [example: age,sex]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "NAMES", value_parser = text::read::<Names>))]
    pub always: Vec<Names>,
    /// Missing values: error, drop-feature, mean, zero or indicator [default: error; mean for bed]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "WAY"))]
    pub missing: Option<String>,
    /// Drop features with a larger share of missing values [default: no limit] [example: 0.1]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "SHARE"))]
    pub max_missing: Option<f64>,
    /// Drop features with fewer rows off their commonest value [default: 1] [example: 20]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub min_count: Option<usize>,
    /// Drop variants whose rarer allele has a smaller frequency, 0 to 0.5; for bed [default: 0] [example: 0.01]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "F"))]
    pub maf: Option<f64>,
    /// Drop variants whose rarer allele has fewer copies; for bed [default: 0] [example: 20]
    #[cfg_attr(feature = "terminal", arg(long, value_name = "N"))]
    pub mac: Option<u64>,
    /// Whether columns are taken as whole numbers, where the caller knows better than the types.
    #[cfg_attr(feature = "terminal", arg(skip))]
    pub integral: Option<bool>,
}

/// Groups of features, as the user gives them.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum GroupSpec {
    /// `prefix:SEP`, `block:N`, `stream`, or a file of feature,group lines.
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
            Self::Text(text) if text == "stream" => Ok(Groups::told()),
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
        let text = |given: &Option<String>| given.as_ref().map(Value::from);
        for (name, value) in [("measure", text(&self.measure)), ("on-full", text(&self.on_full))] {
            let Some(value) = value else { continue };
            if !info.has(name) {
                let got = format!("given, but {} has none", info.name);
                return Err(Error::param(name, got, "a method that knows it; see keepnet methods"));
            }
            settings.insert(name.into(), value);
        }
        if info.stream == Stream::Groups && self.groups.is_none() {
            let want = "--groups FILE, prefix:SEP or block:N with this method";
            return Err(Error::param("groups", "not given", want));
        }
        if info.stream != Stream::Groups && self.groups.is_some() {
            let grouped = registry::methods().iter().filter(|m| m.stream == Stream::Groups);
            let grouped: Vec<_> = grouped.map(|method| method.name).collect();
            let got = format!("given, but {} weighs features one by one", info.name);
            let want = format!("a method on groups: {}", grouped.join(", "));
            return Err(Error::param("groups", got, want));
        }
        if let Some(level) = self.level.filter(|_| info.has("level")) {
            settings.insert("level".into(), level.into());
        }
        if self.gamma_is_of_the_choice(info) {
            settings.remove("gamma");
        }
        settings.keys().try_for_each(|name| info.setting(name).map(|_| ()))?;
        let (k, loss) = (self.any_k(info)?, self.loss);
        let spec = MethodSpec { k, loss, seed, settings, ..MethodSpec::default() };
        if info.needs_k || spec.k == Some(0) {
            spec.need_k()?;
        }
        Ok(spec)
    }

    /// The size; where it is to be chosen one that stands for all, or none on rows.
    fn any_k(&self, info: &MethodInfo) -> Result<Option<usize>> {
        match (&self.k, info.stream) {
            (None, _) => Ok(None),
            (Some(Size::One(k)), _) => Ok(Some(*k)),
            (Some(Size::Auto), Stream::Samples) if info.has("choose") => Ok(None),
            (Some(_), Stream::Samples) => {
                let want = match info.has("choose") {
                    true => "one size, or auto on rows",
                    false => "one size with this method on rows",
                };
                Err(Error::param("k", "a choice of sizes", want))
            }
            (Some(Size::Auto), _) => Ok(Some(1)),
            (Some(Size::List(sizes)), _) => Ok(sizes.last().copied()),
        }
    }

    /// Whether `--set gamma` is meant for the choice of the size and not for the method.
    fn gamma_is_of_the_choice(&self, info: &MethodInfo) -> bool {
        self.k.as_ref().is_some_and(Size::chosen) && !info.has("gamma")
    }

    /// `--set gamma` of the choice of the size, where it was given.
    pub fn gamma(&self) -> Result<Option<f64>> {
        let given = self.settings.iter().find(|(name, _)| name == "gamma");
        match given.filter(|_| self.info().is_ok_and(|info| self.gamma_is_of_the_choice(info))) {
            Some((_, value)) => crate::lanes::gamma(value).map(Some),
            None => Ok(None),
        }
    }

    /// The size, where it is one.
    #[must_use]
    pub fn one_k(&self) -> Option<usize> {
        self.k.as_ref().and_then(Size::one)
    }

    /// What becomes of missing values, by name.
    #[must_use]
    pub fn missing(&self) -> &str {
        self.missing.as_deref().unwrap_or("error")
    }

    /// Which columns are fit to be offered, where `missing` says what becomes of missing values.
    pub fn policy(&self, missing: &str) -> Result<CheckPolicy> {
        let missing = Missing::parse(missing)?;
        if let Some(share) = self.max_missing.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(Error::param("max-missing", share, "a share from 0 to 1"));
        }
        if missing == Missing::DropFeature && self.max_missing.is_some() {
            let got = "given, but missing=drop-feature drops every feature with a missing value";
            return Err(Error::param("max-missing", got, "`missing=mean`, zero or indicator"));
        }
        let min_count = self.min_count.unwrap_or(1);
        let maf = self.maf.unwrap_or(0.0);
        if !(0.0..=0.5).contains(&maf) {
            return Err(Error::param("maf", maf, "a frequency from 0 to 0.5"));
        }
        let mac = self.mac.unwrap_or(0);
        Ok(CheckPolicy { missing, max_missing: self.max_missing, min_count, maf, mac })
    }

    /// Names of features that are kept whatever happens.
    pub fn always(&self) -> Result<HashSet<String>> {
        text::names(&self.always).map(|names| names.into_iter().collect())
    }
}
