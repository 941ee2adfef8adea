//! What every method of the registry must do, on columns and on rows: the same answer for any
//! block, thread count and storage, the same after a resume, and a clear error where it cannot.
//!
//! The cases come from the registry, each with the target and the settings that the method takes,
//! so a new method is put to these tests by being in it. What a method does not promise
//! (`registry/promises.rs`) is not asked of it.

mod cases;
mod columns;
#[path = "../common/mod.rs"]
mod common;
mod fates;
mod hold;
mod lent;
mod limits;
mod resume;
mod row_cases;
mod rows;
mod rows_promised;
