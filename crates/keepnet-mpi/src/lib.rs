//! keepnet over MPI ranks.
//!
//! `mpirun -n 5 keepnet-mpi select ... --method asy-os`: rank 0 is the centre of Algorithm 2, the
//! others are workers of Algorithm 3, each on its own share of the columns. The worker is that
//! of the engine ([`keepnet::select::substitution::asy_os::Worker`]); here are two centres behind the same
//! trait: messages, which work everywhere, and a window, for ranks on one node.
//!
//! Built with the feature `mpi`, which needs an MPI library and libclang; without it the crate
//! is empty, so that the workspace builds where there is none.

#[cfg(feature = "mpi")]
pub mod centre;
#[cfg(feature = "mpi")]
pub mod messages;
#[cfg(feature = "mpi")]
pub mod ranks;
#[cfg(feature = "mpi")]
pub mod reports;
#[cfg(feature = "mpi")]
pub mod window;
#[cfg(feature = "mpi")]
pub mod wire;
