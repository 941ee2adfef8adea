//! The shared centre and the pool of `asy-os` under loom: every order of their locks and atomics
//! that two workers can meet, in the engine's own source files.
//!
//! `asy_os.rs` includes `shared.rs` and `pool.rs` and gives them loom's locks and threads for
//! those of the standard library; the names below are what these files import of the crate.

mod asy_os;

mod numeric {
    pub mod kernel {
        pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
            y.iter_mut().zip(x).for_each(|(y, x)| *y = a.mul_add(*x, *y));
        }
    }
}

mod data {
    pub mod block {
        pub use keepnet::FeatureId;
    }
    pub mod check {
        pub use keepnet::Feature;
    }
}

mod error {
    pub use keepnet::{Error, Result};
}

mod select {
    pub use keepnet::select::{Late, Outcome, Status, Verdict};
}
