//! The Python side of keepnet: NumPy memory in, results as JSON out.
//!
//! Everything that decides is in the engine; classes, checks of arguments and the scikit-learn
//! contract are in Python. Here memory is borrowed ([`memory`], [`columns`], [`rows`]), work runs
//! without the interpreter's lock and can be interrupted ([`work`]), and runs are kept between
//! calls ([`column_run`], [`row_run`], [`cluster`]). [`command`] is the program. [`request`] is what Python asks for, [`error`] what it
//! gets when something is wrong.

mod cluster;
mod column_run;
mod columns;
mod command;
mod error;
mod files;
mod memory;
mod registry;
mod request;
mod row_run;
mod rows;
mod target;
mod work;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule]
fn _keepnet(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(registry::methods, module)?)?;
    module.add_function(wrap_pyfunction!(column_run::fit_columns, module)?)?;
    module.add_function(wrap_pyfunction!(files::select_files, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    module.add_function(wrap_pyfunction!(row_run::merge_averages, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::cluster_problem, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::cluster_problem_of_files, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::moved_column, module)?)?;
    module.add_class::<cluster::Shard>()?;
    module.add_class::<column_run::ColumnRun>()?;
    module.add_class::<row_run::RowRun>()
}
