//! Running averages: their moments, their file, and the check of a loaded state.

pub(crate) mod means;
pub(crate) mod moments;
pub mod running;
pub mod saved;
pub(crate) mod validity;
