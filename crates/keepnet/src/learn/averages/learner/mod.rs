//! Learners that accumulate rows for a method: on the Gram of all features, on an active set, and for
//! the logistic loss.

pub mod active_set;
pub mod averaged;
pub(crate) mod irls;
pub(crate) mod logistic;
pub(crate) mod loss_choice;
mod screen;
