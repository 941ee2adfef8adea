//! The L1 and L0 baselines, one method per file, and what they share.
//!
//! ```text
//! minimise over w   sum_c L(u_c, y_c) / W + lambda sum_j |w_j|      u_c = X w_c + b_c
//! slope_j = x_j'g / W,  g = dL/du
//! KKT:  w_j = 0: |slope_j| <= lambda     w_j != 0: slope_j = -lambda w_j / |w_j|
//! ```
//!
//! `|w_j|` is the Euclidean norm over the outputs, so that several classes share one set; with one
//! output it is the absolute value. Columns are centred where there is an intercept and, with
//! `standardise`, scaled to unit variance, both by formula. Pinned columns and the intercept
//! have no penalty. For the squared loss the target is centred and there is no intercept
//! variable.
//!
//! | file | holds |
//! | --- | --- |
//! | `columns` | the held columns: predictions, slopes, KKT residual |
//! | `solve`, `quadratic_model`, `gram`, `penalty` | the L1 problem on a set of columns |
//! | `group_penalty`, `block_descent` | the penalty of `sparse_group_lasso` in its place |
//! | `baseline`, `held` | methods on a stream: `grafting`, `grafting_light`, `l1_cd`, `l0_cd` |
//! | `batch`, `working_set`, `copies` | methods on all columns: `lasso`, `l1_hinge`, `proj_gd`, `sparse_group_lasso` |

pub(in crate::select) mod baseline;
pub(super) mod batch;
mod block_descent;
mod columns;
mod copies;
pub mod grafting;
pub mod grafting_light;
pub(super) mod gram;
mod group_penalty;
pub(in crate::select) mod held;
pub mod l0_cd;
pub mod l1_cd;
pub mod l1_hinge;
pub mod lasso;
pub(in crate::select) mod penalty;
pub mod proj_gd;
pub(in crate::select) mod quadratic_model;
pub(super) mod settings;
pub(super) mod solve;
pub mod sparse_group_lasso;
mod working_set;

use columns::{Columns, Gradient, Point, norm};
pub use settings::L1Params;

/// The methods of this folder, in the order of the registry.
pub(crate) const METHODS: &[&crate::registry::MethodInfo] = &[
    &grafting::INFO,
    &grafting_light::INFO,
    &l1_cd::INFO,
    &l0_cd::INFO,
    &lasso::INFO,
    &l1_hinge::INFO,
    &proj_gd::INFO,
    &sparse_group_lasso::INFO,
];
