//! From running averages to a model: the standardised Gram, the choice of size, the refit.

pub mod extract;
pub(crate) mod fit;
pub(crate) mod gcv;
pub mod gram;
pub mod path;
pub(crate) mod pinned;
pub(crate) mod ties;
