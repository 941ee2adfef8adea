//! Tables that were transposed out of row-oriented files, in memory or in a temporary file.

mod deal;
mod dense;
mod piece;
mod sort;
mod sparse;
mod spill;

pub(crate) use dense::{DenseBuilder, DenseStore, Tile};
pub(crate) use piece::Piece;
pub(crate) use sparse::{SparseBuilder, SparseStore};
pub(crate) use spill::{Place, Spill};
