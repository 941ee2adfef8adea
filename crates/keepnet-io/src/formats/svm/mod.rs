//! The sparse text of libsvm and LIBLINEAR: a label, then `index:value` pairs.

pub(crate) mod rows;
pub(crate) mod sink;
pub(crate) mod table;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "svm",
    extensions: &["svm", "libsvm", "svmlight"],
    text: true,
    piped: true,
    several: false,
    table: table::open,
    rows: rows::open,
    sink: |out, _, _| Ok(Box::new(sink::Svm::new(out))),
    by_column: false,
    pieces: Pieced::Not("svm needs a label in every row"),
};
