//! The statistical methods against brute force: definitions written out plainly, on thousands
//! of small random data sets with ties, duplicates, constants and empty columns, in every
//! column storage.

mod data;
mod filters;
mod groups;
mod interactions;
mod markov;
mod models;
mod naive;
mod ogfs;
mod rivals;
mod saola;
mod state;
mod weights;
