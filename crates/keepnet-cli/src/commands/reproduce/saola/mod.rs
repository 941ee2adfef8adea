//! The tables and figures of SAOLA (Yu, Wu, Ding, Pei, TKDD 2016) and of its batch rivals.
//!
//! [`data`] has the data sets at hand and selections from them, [`judge`] the classifiers and
//! OFS, [`grid`] fills a table and tests the methods against each other, [`published`] has the
//! paper's numbers. The tables: [`sizes`], [`accuracy`], [`batch`], [`stability`], and [`shapes`]
//! for data sets that are not at hand.

pub mod accuracy;
pub mod batch;
mod data;
mod grid;
mod judge;
mod published;
mod published_batch;
pub mod shapes;
pub mod sizes;
pub mod stability;

/// What the reader of every table must know.
const DATA: &str = "Data sets come from --data DIR as NAME.parquet with the class in y, or NAME.svm.gz. madelon and arcene are \
    trained on the first 2,000 and 100 rows, which are the paper's; of the others two thirds are drawn in each \
    repeat, where the paper reports the best of ten draws. dexter and dorothea are the training part alone: tables of sizes \
    take all of it, those of accuracies draw rows of it. leukemia here has its genes in three levels, ALLAML is \
    the same study as numbers, as in the paper. Alpha-investing goes by the rules of the authors' library \
    (rules=lofs); 't-test' is keepnet's default. OFS is given, as in the paper, the size from 5 to 100 that is best \
    on the test rows, in one pass over columns as they are. The SVM is on \
    standardised columns with a penalised bias, in the paper it is LIBSVM on columns as they are. Sparse group lasso has \
    both weights at 0.1 of their largest; the paper's choice from 0.01 to 0.1 is not stated. Seconds are of the \
    selection alone, the paper's of MATLAB on an i7-2600.";

/// What the reader of the tables with batch filters must know besides.
const BATCH: &str = "Data sets and rows as in saola-3 (see its remark). FCBF, IAMB and MMMB count: numbers are put above or \
    below their mean (bins=mean), as the paper does not state its coding. SPSF-LAR and GDM are given, as in the paper, \
    the size that is best on the test rows, of 5, 10 to 65 and 10, 20 to 260, so their numbers are too good. \
    In the paper GDM has the same accuracy with all three classifiers, on all fourteen data sets: \
    presumably that of a model of its own; here its features are judged as the others are. The SVM is on standardised \
    columns with a penalised bias. Seconds are of the selection alone, the paper's of MATLAB and C++ on an i7-2600.";
