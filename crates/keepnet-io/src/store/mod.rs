//! Tables that were transposed out of row-oriented files, in memory or in a temporary file.

mod dense;
mod sort;
mod sparse;
mod spill;

pub(crate) use dense::{DenseBuilder, DenseStore, Tile};
pub(crate) use sparse::{Piece, SparseBuilder, SparseStore};
pub(crate) use spill::{Place, Spill};
