//! Batch filters over several scans of a stream, in bounded memory, with exactly the answer of a run
//! that holds every column.
//!
//! Their published forms hold the whole table. Here a method makes as many scans as it takes: it is
//! registered with 0 scans, is [`ColumnSelector::unfinished`](super::ColumnSelector::unfinished)
//! until its `end_scan` says `true`, and keeps a few numbers a feature (`per_feature`) beside a
//! `pool` of the columns that it may need next. How many columns are held (`hold`, or what the
//! memory allows) changes the number of scans and no digit of the answer:
//!
//! - numbers are compared by their `rank`, a total order in which rounding decides no tie, so that
//!   the best of a stream does not depend on the order of comparisons;
//! - a number of two columns is always computed with the same one of them loaded, and sums over
//!   columns are added in the order of selection.

pub mod fcbf;
pub mod gdm;
pub(crate) mod hold;
pub mod iamb;
pub(crate) mod lanes;
pub(crate) mod markov;
pub mod mmmb;
pub mod mmpc;
pub mod mrmr;
pub(crate) mod per_feature;
pub(crate) mod pool;
pub(crate) mod rank;
pub mod spsf_lar;

/// The methods of this folder, in the order of the registry.
pub(crate) const METHODS: &[&crate::registry::MethodInfo] = &[
    &fcbf::FCBF,
    &mrmr::MRMR,
    &spsf_lar::SPSF_LAR,
    &gdm::GDM,
    &iamb::IAMB,
    &iamb::INTER_IAMB,
    &iamb::FAST_IAMB,
    &mmpc::MMPC,
    &mmmb::MMMB,
];
