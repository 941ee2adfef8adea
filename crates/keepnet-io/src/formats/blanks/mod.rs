//! Tables separated by runs of blanks or tabs, as the users of PLINK have them: phenotypes and
//! covariates beside genotypes.

mod table;

use keepnet::Error;

use super::{FormatInfo, Pieced};

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "table",
    extensions: &["table", "pheno", "phe", "txt", "cov", "covar"],
    text: true,
    piped: true,
    several: false,
    table: table::open,
    rows: |_, _| {
        Err(Error::Unsupported(
            "a table separated by blanks holds targets and covariates; as the input of a method \
             on rows give it as csv or tsv"
                .into(),
        ))
    },
    sink: |_, _, _| {
        let got = "a table separated by blanks, which is read and not written";
        Err(Error::param("reduced", got, "csv, tsv, parquet, arrow, npy, svm or jsonl"))
    },
    by_column: false,
    pieces: Pieced::Not("a table separated by blanks is read and not written; choose csv or tsv"),
};
