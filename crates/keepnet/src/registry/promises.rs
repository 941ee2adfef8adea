//! What a method promises of its answers on any table, and why it does not promise the rest.
//!
//! A promise is a [`Relation`] between runs, or between a run and its table, that the suite
//! `any_table` puts to the test on random tables. A method has all of them except those that it
//! names with a reason, so a new method begins with every promise.

/// Something that is true of a method's answers on every table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Relation {
    /// The same values in any format and storage.
    Formats,
    /// The same rows in several files or, for methods on features, the same columns.
    Files,
    /// Any number of threads.
    Threads,
    /// A run that stopped between two blocks and went on.
    Resume,
    /// The same rows in another order.
    RowOrder,
    /// Rows that come twice, against rows of weight 2.
    Doubled,
    /// Columns shifted and scaled: coefficients follow.
    Columns,
    /// A target of numbers shifted and scaled: coefficients and loss follow.
    Target,
    /// The loss is not above that of the model that is a constant.
    Loss,
    /// Coefficients and loss are those of an independent fit of the selected features.
    Fit,
    /// Every count in the result is the one made by hand.
    Counts,
}

impl Relation {
    /// Every relation, in the order of the table in the docs.
    pub const ALL: [Self; 11] = [
        Self::Formats,
        Self::Files,
        Self::Threads,
        Self::Resume,
        Self::RowOrder,
        Self::Doubled,
        Self::Columns,
        Self::Target,
        Self::Loss,
        Self::Fit,
        Self::Counts,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Formats => "formats",
            Self::Files => "files",
            Self::Threads => "threads",
            Self::Resume => "resume",
            Self::RowOrder => "row-order",
            Self::Doubled => "doubled",
            Self::Columns => "columns",
            Self::Target => "target",
            Self::Loss => "loss",
            Self::Fit => "fit",
            Self::Counts => "counts",
        }
    }

    /// What is promised, in a line.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Formats => "the same values in any format and storage give the same answer",
            Self::Files => "so do the same rows, or columns, divided into several files",
            Self::Threads => "any number of threads gives every digit again",
            Self::Resume => "a run that stopped between two blocks and went on gives every digit",
            Self::RowOrder => "the same rows in another order give the same answer",
            Self::Doubled => "a row of weight 2 counts as that row twice",
            Self::Columns => "columns shifted and scaled give the same set; coefficients follow",
            Self::Target => "a target shifted and scaled gives the same set; coefficients follow",
            Self::Loss => "the loss is never above that of the constant model",
            Self::Fit => "coefficients and loss are those of an independent fit of the selection",
            Self::Counts => "every count in the result is the one made by hand from the table",
        }
    }
}

/// The promises of a method.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    /// Settings under which they hold to 1e-6, where that is not the default.
    pub with: &'static [(&'static str, &'static str)],
    /// The relations that are not promised, each with the reason.
    pub except: &'static [(Relation, &'static str)],
}

impl Promises {
    /// Every relation, with the method's defaults.
    pub const ALL: Self = Self { with: &[], except: &[] };

    /// Methods whose result has no model.
    pub(crate) const STATISTICAL: Self =
        Self { with: &[], except: &[(Relation::Loss, NO_LOSS), (Relation::Fit, NO_LOSS)] };

    /// The same for classes alone.
    pub(crate) const STATISTICAL_CLASSES: Self = Self {
        with: &[],
        except: &[
            (Relation::Loss, NO_LOSS),
            (Relation::Fit, NO_LOSS),
            (Relation::Target, NO_NUMBERS),
        ],
    };

    /// The same for classes alone, by the scatter of whole sets of features.
    pub(crate) const SCATTER: Self = Self {
        with: &[],
        except: &[
            (Relation::Loss, NO_LOSS),
            (Relation::Fit, NO_LOSS),
            (Relation::Target, NO_NUMBERS),
            (
                Relation::Columns,
                "the trace ratio adds the scatter of features in their own units, as published",
            ),
        ],
    };

    /// Methods with a model of classes alone.
    pub(crate) const CLASSES: Self = Self { with: &[], except: &[(Relation::Target, NO_NUMBERS)] };

    /// Workers on threads.
    pub(crate) const ASYNCHRONOUS: Self = Self {
        with: &[("centre", "simulated")],
        except: &[(
            Relation::Threads,
            "threads meet in the order of the moment; with centre=simulated this holds too",
        )],
    };

    /// Methods on running averages: block products of f32 are good to near 1e-5 only.
    pub(crate) const AVERAGED: Self = Self { with: &[("products", "f64")], except: &[] };

    /// The same where a ridge is chosen by the number of rows.
    pub(crate) const CROSS_VALIDATED: Self = Self {
        with: Self::AVERAGED.with,
        except: &[(
            Relation::Doubled,
            "cross-validation counts W^2 / W2 rows, as weights may have any scale; \
             with ridge=NUMBER it holds",
        )],
    };

    /// The streaming rivals.
    pub(crate) const STREAMING: Self = Self {
        with: &[],
        except: &[
            (Relation::RowOrder, STEP_BY_STEP),
            (Relation::Doubled, NOT_TWO_STEPS),
            (Relation::Loss, NO_DESCENT),
            (Relation::Fit, NO_REFIT),
        ],
    };

    /// Streaming rivals for two classes alone.
    pub(crate) const STREAMING_CLASSES: Self = Self {
        with: &[],
        except: &[
            (Relation::RowOrder, STEP_BY_STEP),
            (Relation::Doubled, NOT_TWO_STEPS),
            (Relation::Target, NO_NUMBERS),
            (Relation::Loss, NO_DESCENT),
            (Relation::Fit, NO_REFIT),
        ],
    };

    /// Why a relation is not promised; `None` where it is.
    #[must_use]
    pub fn why_not(&self, relation: Relation) -> Option<&'static str> {
        self.except.iter().find(|(not, _)| *not == relation).map(|(_, why)| *why)
    }
}

const NO_LOSS: &str = "its result is a list of features without a model, so there is no loss";
const STEP_BY_STEP: &str = "each row moves the model that the rows before it left";
const NOT_TWO_STEPS: &str = "one step of twice the length is not two steps";
const NO_DESCENT: &str = "a few steps need not have come below where they began";
const NO_REFIT: &str = "its weights are those of the steps; nothing is fitted at the end";
const NO_NUMBERS: &str = "its target is classes, which have no scale";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::methods;

    #[test]
    fn every_exception_has_a_reason_and_comes_once() {
        for method in methods() {
            let promises = method.promises;
            for (at, (relation, why)) in promises.except.iter().enumerate() {
                assert!(why.len() > 20 && !why.ends_with('.'), "{}: {why:?}", method.name);
                let again = promises.except[..at].iter().any(|(other, _)| other == relation);
                assert!(!again, "{}: {relation:?} twice", method.name);
            }
            for (name, _) in promises.with {
                assert!(method.settings.iter().any(|setting| setting.name == *name));
            }
        }
    }

    #[test]
    fn relations_are_named_apart() {
        let mut names: Vec<_> = Relation::ALL.iter().map(|relation| relation.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Relation::ALL.len());
    }
}
