//! Genotypes against PLINK and bed-reader: every cell, every count, every coefficient, scores and
//! broken files. The oracles and the commands that made them are in `../shared/oracles/genotypes`.

mod common;

use std::collections::HashMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::Folder;
use common::skipped::skipped;
use flate2::read::GzDecoder;
use keepnet::{
    Budget, CheckPolicy, Column, ColumnBlock, ColumnData, Driver, FeatureSource, Generated, Lane,
    MethodSpec, Missing, Problem, Quiet, RunOptions, registry,
};
use keepnet_io::{OpenOptions, ProblemSpec, SeriesValues, build_problem, open};

fn oracles() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles/genotypes");
    if !path.is_dir() {
        skipped("genotypes against PLINK: ../shared/oracles/genotypes");
    }
    path.is_dir().then_some(path)
}

/// The lines of a table that may be gzipped, as fields by the name of their column.
fn table(path: &Path) -> Vec<HashMap<String, String>> {
    let mut text = String::new();
    let file = std::fs::File::open(path).unwrap();
    match path.extension().is_some_and(|e| e == "gz") {
        true => GzDecoder::new(file).read_to_string(&mut text).unwrap(),
        false => { file }.read_to_string(&mut text).unwrap(),
    };
    let mut lines = text.lines().map(|line| line.split_ascii_whitespace().map(String::from));
    let head: Vec<String> = lines.next().unwrap().collect();
    lines.map(|fields| head.iter().cloned().zip(fields).collect()).collect()
}

/// Copies of A1 of every person, by the name of the variant.
fn cells(bed: &Path) -> Vec<(String, Vec<Option<u8>>)> {
    let mut data = open(&[bed.display().to_string()], &OpenOptions::default()).unwrap();
    let people = ["FID", "IID", "SEX", "PHENO1"];
    let names: Vec<String> = data.columns().iter().map(|column| column.name.clone()).collect();
    let variants = names.into_iter().filter(|name| !people.contains(&name.as_str()));
    let one = |name: String| {
        let SeriesValues::Numbers { values, .. } = data.series(&name).unwrap().values else {
            panic!("{name} is text")
        };
        let copies = |v: &f64| (!v.is_nan()).then_some(*v as u8);
        (name, values.iter().map(copies).collect())
    };
    variants.map(one).collect()
}

/// The decoded table that the R package BEDMatrix comes with, and what bed-reader's documentation
/// prints of its small file; by person that file is turned.
#[test]
fn every_cell_is_that_of_the_decoded_table() {
    let Some(oracles) = oracles() else { return };
    let raw = table(&oracles.join("missing.raw.gz"));
    let cells_of = |name: &str| cells(&oracles.join(name));
    let variants = cells_of("missing.bed");
    assert_eq!((variants.len(), raw.len()), (1000, 50));
    let alleles: HashMap<String, String> = std::fs::read_to_string(oracles.join("missing.bim"))
        .unwrap()
        .lines()
        .map(|line| line.split_ascii_whitespace().map(String::from).collect::<Vec<_>>())
        .map(|fields| (fields[1].clone(), fields[4].clone()))
        .collect();
    let mut missing = 0;
    for (name, copies) in &variants {
        let column = format!("{name}_{}", alleles[name]);
        for (person, got) in raw.iter().zip(copies) {
            let want = person[&column].parse::<u8>().ok();
            assert_eq!(*got, want, "{name} of {}", person["IID"]);
            missing += usize::from(want.is_none());
        }
    }
    assert!(missing > 500, "{missing} are missing");
    let small = [
        [Some(1), Some(0), None, Some(0)],
        [Some(2), Some(0), None, Some(2)],
        [Some(0), Some(1), Some(2), Some(0)],
    ];
    let by_variant = cells_of("small.bed");
    assert_eq!(by_variant.len(), 4);
    for (j, (_, copies)) in by_variant.iter().enumerate() {
        assert_eq!(*copies, small.map(|person| person[j]));
    }
    let by_person = cells_of("smallmode0.bed");
    assert_eq!(by_person.len(), 3);
    for (j, (_, copies)) in by_person.iter().enumerate() {
        assert_eq!(copies[..], small[j]);
    }
}

#[test]
fn counts_are_those_of_plink() {
    let Some(oracles) = oracles() else { return };
    for (name, people) in [("example", 500), ("missing", 50)] {
        let counts = table(&oracles.join(format!("{name}.gcount.gz")));
        let bed = oracles.join(format!("{name}.bed")).display().to_string();
        let data = open(&[bed], &OpenOptions::default()).unwrap();
        let left_out = ["FID", "IID", "SEX", "PHENO1"].map(String::from);
        let mut source = data.source(&left_out).unwrap();
        let mut block = ColumnBlock::new(2000);
        while source.next_block(&mut block).unwrap() {}
        assert_eq!((block.columns().len(), counts.len()), (1000, 1000));
        for (raw, want) in block.columns().iter().zip(&counts) {
            let Column::Genotypes(x) = raw.data.view() else { panic!("{} is unpacked", raw.name) };
            let got = x.counts();
            let of = |column: &str| want[column].parse::<u64>().unwrap();
            let copies = ["HOM_REF_CT", "HET_REF_ALT_CTS", "TWO_ALT_GENO_CTS"].map(of);
            assert_eq!((got.copies, got.missing), (copies, of("MISSING_CT")), "{}", want["ID"]);
            assert_eq!(x.rows(), people);
        }
    }
}

/// The only coefficient of a model of one variant.
fn beta(problem: &Arc<Problem>, data: ColumnData) -> f64 {
    let rows = data.view().rows();
    let method = registry::find("os-plus").unwrap();
    let selector = registry::make(method, &MethodSpec::k(1), problem, Budget::unlimited()).unwrap();
    let mut lane = Lane::new(Arc::clone(problem), selector);
    lane.policy = CheckPolicy { missing: Missing::Mean, ..CheckPolicy::default() };
    let mut source = Generated::columns(rows, vec![data]);
    let options = RunOptions { scans: 1, ..RunOptions::default() };
    let report = Driver::new(&mut source, vec![lane], options).unwrap().run(&mut Quiet).unwrap();
    report.lanes[0].selection.selected[0].coefficient[0]
}

/// Every variant of every `--glm` of quantitative traits, to the six digits that PLINK prints: a
/// missing genotype that is filled with the mean leaves the coefficient as it is, where there are
/// no covariates. Of binary traits some: the fit of classes has a ridge of 1e-3 on columns of unit
/// variance (`select/refit.rs`), which with a quarter of cases makes a coefficient smaller by
/// 1e-3 / (0.25 x 0.75), half a percent.
#[test]
fn every_coefficient_of_one_variant_is_the_beta_of_plink() {
    let Some(oracles) = oracles() else { return };
    let at = |name: &str| oracles.join(name).display().to_string();
    let example = ("example", "example.pheno");
    let cases = [
        (example, "Y1", None, "example.Y1.glm.linear", 1, 6e-6),
        (example, "Y2", None, "example.Y2.glm.linear", 1, 6e-6),
        (example, "Y1", Some("example.covar"), "example_covar.Y1.glm.linear", 1, 6e-6),
        (example, "Y2", Some("example.covar"), "example_covar.Y2.glm.linear", 1, 6e-6),
        (("missing", "missing.pheno"), "Q1", None, "missing.Q1.glm.linear", 1, 1e-5),
        (("missing", "missing.pheno"), "Q2", None, "missing.Q2.glm.linear", 1, 1e-5),
        (("example", "example_bin.pheno"), "Y1", None, "example_bin.Y1.glm.logistic", 20, 0.01),
    ];
    for ((data, pheno), trait_, covar, glm, step, near) in cases {
        let spec = ProblemSpec {
            target: format!("{}:{trait_}", at(pheno)).into(),
            covar: covar.map(at),
            loss: glm.ends_with("logistic").then_some(keepnet::LossKind::Logistic),
            ..ProblemSpec::default()
        };
        let options = OpenOptions::default();
        let mut opened = open(&[at(&format!("{data}.bed"))], &options).unwrap();
        let joined = build_problem(&mut opened, &spec, &options).unwrap();
        let problem = Arc::new(joined.problem);
        let mut source = opened.source(&joined.not_features).unwrap();
        let mut block = ColumnBlock::new(2000);
        while source.next_block(&mut block).unwrap() {}
        let wanted = table(&oracles.join(format!("{glm}.gz")));
        let wanted: HashMap<&str, &HashMap<String, String>> =
            wanted.iter().map(|line| (&*line["ID"], line)).collect();
        let mut compared = 0;
        for raw in block.columns().iter().step_by(step) {
            let name = raw.name.to_string();
            // No number where PLINK could not fit.
            let number = |column: &str| wanted[&*name].get(column)?.parse::<f64>().ok();
            let Some(want) = number("BETA").or_else(|| number("OR").map(f64::ln)) else { continue };
            let got = beta(&problem, raw.data.view().to_data());
            // A coefficient near zero has fewer digits.
            let room = near * want.abs().max(1e-3);
            assert!((got - want).abs() <= room, "{glm} {name}: {got}, PLINK {want}");
            compared += 1;
        }
        assert!(compared > 900 / step, "{compared} of {glm}");
    }
}

/// A result with the coefficients of PLINK's score files predicts PLINK's sums; missing genotypes
/// count as twice the frequency of the allele, as `--score` counts them.
#[test]
fn predictions_are_the_sums_of_plinks_scores() {
    let Some(oracles) = oracles() else { return };
    for name in ["example", "missing"] {
        let folder = Folder::new();
        let bed = oracles.join(format!("{name}.bed"));
        let variants: HashMap<String, Vec<Option<u8>>> = cells(&bed).into_iter().collect();
        let alleles: HashMap<String, String> =
            std::fs::read_to_string(oracles.join(format!("{name}.bim")))
                .unwrap()
                .lines()
                .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
                .map(|fields| (fields[1].to_string(), fields[4].to_string()))
                .collect();
        let score = std::fs::read_to_string(oracles.join(format!("{name}.score"))).unwrap();
        let mut selected = Vec::new();
        for line in score.lines() {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            assert_eq!(alleles[fields[0]], fields[1], "the scored allele is A1");
            let known: Vec<f64> =
                variants[fields[0]].iter().flatten().map(|v| f64::from(*v)).collect();
            let mean = known.iter().sum::<f64>() / known.len() as f64;
            let coefficient: f64 = fields[2].parse().unwrap();
            selected.push(serde_json::json!({
                "name": fields[0], "coefficient": coefficient, "fill": mean
            }));
        }
        let result = serde_json::json!({
            "version": 1, "method": "os-plus", "params": {}, "classes": null, "intercept": 0.0,
            "selected": selected
        });
        folder.write("r.json", result.to_string());
        let call = format!("predict r.json {} --output p.csv", bed.display());
        folder.run(&call).fine();
        let predicted = folder.read("p.csv");
        let sums = table(&oracles.join(format!("{name}.sscore.gz")));
        assert_eq!(predicted.lines().count(), 1 + sums.len());
        for (line, want) in predicted.lines().skip(1).zip(&sums) {
            let (got, want): (f64, f64) =
                (line.parse().unwrap(), want["SCORE1_SUM"].parse().unwrap());
            assert!((got - want).abs() <= 1e-5 * want.abs().max(1.0), "{got}, PLINK {want}");
        }
    }
}

#[test]
fn broken_files_of_bed_reader_have_their_messages() {
    let Some(oracles) = oracles() else { return };
    let folder = Folder::new();
    let read = |name: &str| std::fs::read(oracles.join(name)).unwrap();
    let good = ["small.bed", "small.bim", "small.fam"].map(read);
    let broken = |files: [Vec<u8>; 3], words: &[&str]| {
        for (end, bytes) in ["bed", "bim", "fam"].iter().zip(files) {
            folder.write(&format!("x.{end}"), bytes);
        }
        folder.write("y.txt", "IID Y\niid1 1\niid2 2\niid3 4\n");
        folder.run("select x.bed --target y.txt:Y -k 1 --quiet").refused(1, words);
    };
    let with = |place: usize, name: &str| {
        let mut files = good.clone();
        files[place] = read(name);
        files
    };
    broken(with(0, "badfile.bed"), &["x.bed", "not a PLINK 1 .bed file"]);
    broken(with(0, "empty.bed"), &["x.bed", "not a PLINK 1 .bed file"]);
    broken(with(0, "smallmodebad.bed"), &["x.bed", "not a PLINK 1 .bed file", "6c 1b 30"]);
    broken(with(0, "small_too_short.bed"), &["x.bed", "truncated", "6 bytes"]);
    broken(with(1, "small.bad_bim"), &["x.bim", "line 3", "5 fields"]);
    broken(with(1, "small.bim_bad_positions.bim"), &["x.bim", "line 2", "100.0"]);
    broken(with(2, "small.fam_bad"), &["x.fam", "line 4"]);
}
