//! What the user asked of a method, and what holds where nothing was asked.

use std::collections::BTreeMap;

use super::setting::{Given, Setting, Usual};
use crate::error::{Error, Result};
use crate::loss::LossKind;
use crate::selection::Value;

/// What the user asked of a method.
#[derive(Clone, Debug, Default)]
pub struct MethodSpec {
    /// Most features to keep.
    pub k: Option<usize>,
    /// The loss, where one was named.
    pub loss: Option<LossKind>,
    /// Seed of whatever is random in it.
    pub seed: u64,
    /// Bytes of one dense column, where known, for a budget that is checked beforehand.
    pub column_bytes: Option<u64>,
    /// Whether the schema says that every column holds integers, booleans or codes.
    pub integral: bool,
    /// Whether the columns are genotypes in the order of a genome.
    pub genotypes: bool,
    /// Settings by name. Text is read by the kind of the setting.
    pub settings: BTreeMap<String, Value>,
}

impl MethodSpec {
    /// A method that keeps `k` features, with its defaults.
    #[must_use]
    pub fn k(k: usize) -> Self {
        Self { k: Some(k), ..Self::default() }
    }

    /// The same with one more setting.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.settings.insert(name.into(), value.into());
        self
    }

    /// `k`, or the advice that it is needed.
    pub fn need_k(&self) -> Result<usize> {
        match self.k {
            Some(0) => Err(Error::param("k", 0, "at least 1")),
            Some(k) => Ok(k),
            None => Err(Error::param("k", "not given", "`k=K`, the number of features to keep")),
        }
    }

    /// What was given for a setting; `None` where nothing was.
    pub fn given(&self, setting: &Setting) -> Result<Option<Given>> {
        self.settings.get(setting.name).map(|value| setting.read(value)).transpose()
    }

    /// What was given or is the default; `None` where the method works it out.
    pub fn value(&self, setting: &Setting) -> Result<Option<Given>> {
        Ok(self.given(setting)?.or(match setting.usual {
            Usual::Value(value) => Some(value),
            Usual::Preset { tuned, .. } => Some(Given::Number(tuned)),
            Usual::Derived(_) => None,
        }))
    }

    /// A setting that is true or false.
    pub fn flag(&self, setting: &Setting) -> Result<bool> {
        match self.value(setting)? {
            Some(Given::Flag(value)) => Ok(value),
            other => Err(mistaken(setting, other)),
        }
    }

    /// A setting that is a number; `None` where it is a word or the method works it out.
    pub fn optional_number(&self, setting: &Setting) -> Result<Option<f64>> {
        match self.value(setting)? {
            Some(Given::Number(value)) => Ok(Some(value)),
            None | Some(Given::Word(_)) => Ok(None),
            other => Err(mistaken(setting, other)),
        }
    }

    /// A setting that is a number.
    pub fn number(&self, setting: &Setting) -> Result<f64> {
        self.optional_number(setting)?.ok_or_else(|| mistaken(setting, None))
    }

    /// A setting that is a whole number; `None` where it is a word or the method works it out.
    pub fn optional_whole(&self, setting: &Setting) -> Result<Option<usize>> {
        match self.value(setting)? {
            Some(Given::Whole(value)) => Ok(Some(value as usize)),
            None | Some(Given::Word(_)) => Ok(None),
            other => Err(mistaken(setting, other)),
        }
    }

    /// A setting that is a whole number.
    pub fn whole(&self, setting: &Setting) -> Result<usize> {
        self.optional_whole(setting)?.ok_or_else(|| mistaken(setting, None))
    }

    /// A setting that is one of a few names, as the one of `all` with that name.
    pub fn choice<T: Copy>(
        &self,
        setting: &Setting,
        all: &[T],
        name: impl Fn(T) -> &'static str,
    ) -> Result<T> {
        let value = self.value(setting)?;
        let named = |word| all.iter().copied().find(|one| name(*one) == word);
        match value {
            Some(Given::Word(word)) => named(word).ok_or_else(|| mistaken(setting, value)),
            other => Err(mistaken(setting, other)),
        }
    }
}

/// A setting that was asked for as another kind than its own.
fn mistaken(setting: &Setting, value: Option<Given>) -> Error {
    let got = value.map_or("not given".into(), |value| value.to_string());
    Error::param(setting.name, got, setting.wanted())
}
