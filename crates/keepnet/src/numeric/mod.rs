//! The loops over every value, and small dense linear algebra.

pub(crate) mod block_product;
pub(crate) mod exp;
pub mod inner_product;
pub mod kernel;
pub(crate) mod lanczos;
pub mod linalg;
pub(crate) mod packed;
pub mod popcount;
pub mod products;
pub(crate) mod row_loops;
pub(crate) mod simd;
pub(crate) mod symmetric;
