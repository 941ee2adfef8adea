//! Methods that learn a row at a time and hold O(p) numbers.

mod baseline;
pub mod ofs;
pub mod opg;
pub mod opg_sadmm;
pub mod rda;
pub mod rda_sadmm;
mod sadmm;
mod scale;
pub mod sgd;
pub mod siht;
pub mod sofs;
mod stream;
pub mod truncated_gradient;
mod truncation;
pub mod tsgd;

/// The methods of this folder, in the order of the registry.
pub(crate) const METHODS: &[&crate::registry::MethodInfo] = &[
    &sgd::INFO,
    &tsgd::INFO,
    &siht::INFO,
    &truncated_gradient::INFO,
    &opg::INFO,
    &rda::INFO,
    &opg_sadmm::INFO,
    &rda_sadmm::INFO,
    &ofs::INFO,
    &sofs::INFO,
];
