//! The loops over every value, and small dense linear algebra.

pub(crate) mod block_product;
pub(crate) mod counts;
pub(crate) mod exp;
#[cfg(test)]
mod forms;
pub(crate) mod genotypes;
pub(crate) mod inner_product;
pub(crate) mod integers;
pub(crate) mod kernel;
pub(crate) mod lanczos;
pub(crate) mod linalg;
pub(crate) mod packed;
pub(crate) mod panel;
pub(crate) mod popcount;
pub(crate) mod products;
pub(crate) mod rough;
pub(crate) mod row_loops;
pub(crate) mod simd;
pub(crate) mod symmetric;
pub(crate) mod tile;
