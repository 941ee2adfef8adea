//! The tables and figures of SAOLA (Yu, Wu, Ding, Pei, TKDD 2016) that need no batch filter.
//!
//! [`data`] has the data sets at hand and selections from them, [`judge`] the classifiers and
//! OFS, [`grid`] fills a table and tests the methods against each other, [`published`] has the
//! paper's numbers. The tables: [`sizes`], [`accuracy`], [`stability`], and [`shapes`] for data
//! sets that are not at hand.

pub mod accuracy;
mod data;
mod grid;
mod judge;
mod published;
pub mod shapes;
pub mod sizes;
pub mod stability;

/// What the reader of every table must know.
const DATA: &str = "Data sets come from --data DIR as NAME.parquet with the class in y. madelon and arcene are \
    trained on the first 2,000 and 100 rows, which are the paper's; of the others two thirds are drawn in each \
    repeat, where the paper reports the best of ten draws. leukemia here has its genes in three levels, ALLAML is \
    the same study as numbers, as in the paper. Alpha-investing goes by the rules of the authors' library \
    (rules=lofs); 't-test' is keepnet's default. OFS is given, as in the paper, the size from 5 to 100 that is best \
    on the test rows, in one pass over columns as they are. The SVM is on \
    standardised columns with a penalised bias, in the paper it is LIBSVM on columns as they are. Sparse group \
    lasso and the batch filters come later. Seconds are of the selection alone, the paper's of MATLAB on an i7-2600.";
