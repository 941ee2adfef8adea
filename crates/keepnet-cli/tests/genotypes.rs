//! PLINK 1 files: what PLINK makes of them, the same values in other formats, and broken files.

mod common;

use std::path::{Path, PathBuf};

use common::Folder;
use common::skipped::skipped;
use serde_json::Value;

/// PLINK's results, made by the commands in the README beside them.
fn oracles() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/oracles/genotypes");
    if !path.is_dir() {
        skipped("genotypes against PLINK: ../shared/oracles/genotypes");
    }
    path.is_dir().then_some(path)
}

/// Copies of A1 of a person, `None` where missing.
fn copies(person: usize, variant: usize) -> Option<u8> {
    let mixed = (person * 7919 + variant * 104_729 + 3).wrapping_mul(2_654_435_761) >> 7;
    Some((mixed % 3) as u8).filter(|_| !mixed.is_multiple_of(11))
}

fn phenotype(person: usize) -> f64 {
    let of = |variant| f64::from(copies(person, variant).unwrap_or(1));
    2.0 * of(3) - 1.5 * of(8) + of(17) + ((person * 31) % 7) as f64 / 10.0
}

/// Writes `X.bed`, `X.bim` and `X.fam`; by person where not `by_variant`.
fn write(folder: &Folder, name: &str, (n, p): (usize, usize), by_variant: bool) {
    // 00 two copies, 10 one, 11 none, 01 missing; padding is 00.
    let code = |i: usize, j: usize| copies(i, j).map_or(1, |c| [3, 2, 0][usize::from(c)]);
    let (outer, inner) = if by_variant { (p, n) } else { (n, p) };
    let mut bytes = vec![0x6c, 0x1b, u8::from(by_variant)];
    for a in 0..outer {
        let mut line = vec![0_u8; inner.div_ceil(4)];
        for b in 0..inner {
            let code = if by_variant { code(b, a) } else { code(a, b) };
            line[b / 4] |= code << (2 * (b % 4));
        }
        bytes.extend(line);
    }
    let bim: String =
        (0..p).map(|j| format!("{}\trs{j}\t0\t{}\tA\tG\n", 1 + j / 12, 100 * j)).collect();
    let fam: String = (0..n).map(|i| format!("F{i} I{i} 0 0 1 {}\n", phenotype(i))).collect();
    folder.write(&format!("{name}.bed"), bytes);
    folder.write(&format!("{name}.bim"), bim).write(&format!("{name}.fam"), fam);
}

fn select(folder: &Folder, words: &str) -> Value {
    let called = folder.run(&format!("select {words} --quiet --output -"));
    called.fine();
    serde_json::from_str(&called.out).unwrap()
}

/// Name and coefficient of what is selected.
fn chosen(result: &Value) -> Vec<(String, f64)> {
    let one =
        |f: &Value| (f["name"].as_str().unwrap().to_string(), f["coefficient"].as_f64().unwrap());
    result["selected"].as_array().unwrap().iter().map(one).collect()
}

/// One coefficient is that of PLINK's `--glm`: columns BETA of `example.Y1.glm.linear`,
/// `example_covar.Y2.glm.linear` and `missing.Q1.glm.linear`, to the digits that are printed there.
#[test]
fn a_single_coefficient_is_the_beta_of_plink() {
    let Some(oracles) = oracles() else { return };
    let folder = Folder::new();
    let at = |name: &str| oracles.join(name).display().to_string();
    // Input, target, covariates, and the coefficients of single variants.
    type Case = (&'static str, &'static str, Option<&'static str>, &'static [(&'static str, f64)]);
    let cases: [Case; 3] = [
        (
            "example",
            "example.pheno:Y1",
            None,
            &[
                ("4", -0.020_721_2),
                ("134", 0.080_934_1),
                ("394", -0.142_368),
                ("914", -0.006_056_01),
            ],
        ),
        (
            "example",
            "example.pheno:Y2",
            Some("example.covar"),
            &[("4", -0.060_960_5), ("334", 0.117_376), ("664", 0.016_019_1), ("994", 0.068_604_4)],
        ),
        // Missing genotypes are filled with the mean, which leaves this coefficient as it is.
        (
            "missing",
            "missing.pheno:Q1",
            None,
            &[("snp3", -0.241_573), ("snp333", -0.131_763), ("snp993", 0.097_037_3)],
        ),
    ];
    for (data, target, covar, betas) in cases {
        let covar = covar.map_or(String::new(), |file| format!("--covar {}", at(file)));
        for (name, beta) in betas {
            let words =
                format!("{} --target {} -k 1 --columns {name} {covar}", at(data), at(target));
            let result = select(&folder, &words);
            assert_eq!(result["rows"]["matched_by"], "key FID,IID");
            let (_, got) = chosen(&result)[0];
            assert!((got - beta).abs() < 6e-6 * beta.abs(), "{name}: {got}, PLINK {beta}");
            let feature = &result["selected"][0];
            assert!(feature["position"].is_i64() && feature["a1"].is_string(), "{feature}");
        }
    }
}

#[test]
fn every_name_and_either_order_of_the_file_is_the_same_data() {
    let folder = Folder::new();
    // People and variants with rests of one to three in the last byte.
    for (n, p) in [(41, 30), (42, 31), (43, 33), (44, 32)] {
        write(&folder, "x", (n, p), true);
        write(&folder, "turned", (n, p), false);
        let first = chosen(&select(&folder, "x -k 4"));
        for name in ["x.bed", "x.bim", "x.fam", "turned.bed"] {
            assert_eq!(chosen(&select(&folder, &format!("{name} -k 4"))), first, "{name} {n} {p}");
        }
    }
}

#[test]
fn the_same_values_in_a_table_give_the_same_model() {
    let folder = Folder::new();
    let (n, p) = (203, 40);
    write(&folder, "x", (n, p), true);
    let mut csv: String = (0..p).map(|j| format!("rs{j},")).collect::<String>() + "y,w\n";
    for i in 0..n {
        let cell = |j| copies(i, j).map_or(",".to_string(), |c| format!("{c},"));
        csv += &(0..p).map(cell).collect::<String>();
        csv += &format!("{},{}\n", phenotype(i), 1 + i % 3);
    }
    folder.write("x.csv", csv);
    folder
        .write("w.csv", (0..n).fold("w\n".into(), |t: String, i| t + &format!("{}\n", 1 + i % 3)));
    let same = |words: &'static str| (words, format!("{words} --exclude w"));
    let cases = [
        same(""),
        same("--method os"),
        same("--method lasso"),
        same("--method saola --measure fisher-z"),
        ("--sample-weight w.csv", "--sample-weight w".into()),
    ];
    for (words, of_table) in cases {
        let packed = select(&folder, &format!("x.bed -k 6 {words}"));
        let table = select(&folder, &format!("x.csv --target y --missing mean -k 6 {of_table}"));
        let both = [packed, table].map(|result| {
            let scores = result["selected"].as_array().unwrap().clone();
            let one =
                |f: &Value| (f["name"].clone(), f["coefficient"].as_f64(), f["score"].as_f64());
            scores.iter().map(one).collect::<Vec<_>>()
        });
        assert_eq!(both[0].len(), both[1].len());
        for (a, b) in both[0].iter().zip(&both[1]) {
            let near = |a: Option<f64>, b: Option<f64>| match (a, b) {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-10 * b.abs(),
                (a, b) => a == b,
            };
            assert!(a.0 == b.0 && near(a.1, b.1) && near(a.2, b.2), "{words}: {a:?} {b:?}");
        }
    }
}

#[test]
fn people_are_joined_by_their_ids_in_any_order() {
    let folder = Folder::new();
    write(&folder, "x", (50, 20), true);
    let mut lines: Vec<String> =
        (0..48).map(|i| format!("F{i}  I{i}\t{} {}\n", phenotype(i), i % 5)).collect();
    lines.reverse();
    folder.write("y.pheno", format!("#FID IID Y1 age\n{}", lines.concat()));
    folder.write("old.phe", lines.concat());
    folder.write(
        "one.txt",
        lines.iter().fold("IID Y1\n".to_string(), |text, line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            text + &format!("{} {}\n", fields[1], fields[2])
        }),
    );
    let named = select(&folder, "x --target y.pheno:Y1 -k 3");
    assert_eq!(named["rows"]["used"], 48);
    assert_eq!(named["rows"]["unmatched"], 2);
    for target in ["old.phe:P1", "one.txt"] {
        assert_eq!(chosen(&select(&folder, &format!("x --target {target} -k 3"))), chosen(&named));
    }
    let covar = select(&folder, "x --target y.pheno:Y1 --covar y.pheno:age -k 3");
    assert_eq!(covar["covariates"][0]["name"], "age");
}

/// Writes some of the variants of some of the people of `x`, and the phenotypes of those people.
fn part(
    folder: &Folder,
    name: &str,
    people: std::ops::Range<usize>,
    variants: std::ops::Range<usize>,
) {
    let mut bytes = vec![0x6c, 0x1b, 1];
    for j in variants.clone() {
        let mut line = vec![0_u8; people.len().div_ceil(4)];
        for (at, i) in people.clone().enumerate() {
            let code = copies(i, j).map_or(1, |c| [3, 2, 0][usize::from(c)]);
            line[at / 4] |= code << (2 * (at % 4));
        }
        bytes.extend(line);
    }
    let lines = |text: String, of: std::ops::Range<usize>| {
        text.lines()
            .skip(of.start)
            .take(of.len())
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    folder.write(&format!("{name}.bed"), bytes);
    folder.write(&format!("{name}.bim"), lines(folder.read("x.bim"), variants));
    folder.write(&format!("{name}.fam"), lines(folder.read("x.fam"), people));
}

#[test]
fn files_of_chromosomes_and_of_people_are_one_table() {
    let folder = Folder::new();
    write(&folder, "x", (75, 36), true);
    let whole = chosen(&select(&folder, "x -k 5"));
    part(&folder, "chr1", 0..75, 0..12);
    part(&folder, "chr2", 0..75, 12..24);
    part(&folder, "chr3", 0..75, 24..36);
    assert_eq!(chosen(&select(&folder, "chr1 chr2 chr3 -k 5")), whole);
    part(&folder, "some", 0..33, 0..36);
    part(&folder, "rest", 33..75, 0..36);
    assert_eq!(chosen(&select(&folder, "some.bed rest.bed -k 5")), whole);
    // The people of the second file in another order.
    let fam: Vec<String> =
        folder.read("chr2.fam").lines().map(|line| format!("{line}\n")).collect();
    let turned: String = fam[1..].iter().chain(&fam[..1]).cloned().collect();
    let mut bytes = vec![0x6c, 0x1b, 1];
    for j in 12..24 {
        let mut line = vec![0_u8; 19];
        for at in 0..75 {
            let code = copies((at + 1) % 75, j).map_or(1, |c| [3, 2, 0][usize::from(c)]);
            line[at / 4] |= code << (2 * (at % 4));
        }
        bytes.extend(line);
    }
    folder.write("chr2.fam", turned).write("chr2.bed", bytes);
    assert_eq!(chosen(&select(&folder, "chr1 chr2 chr3 -k 5")), whole);
    let swapped = folder.read("rest.bim").replacen("A\tG", "G\tA", 1);
    folder.write("rest.bim", swapped);
    folder.run("select some.bed rest.bed -k 5").refused(1, &["rs0", "swapped", "rest.bed"]);
}

#[test]
fn variants_are_chosen_by_chromosome_and_by_the_rarer_allele() {
    let folder = Folder::new();
    write(&folder, "x", (60, 36), true);
    let of = |words: &str| select(&folder, &format!("x -k 3 {words}"));
    assert_eq!(
        (of("")["features_seen"].as_u64(), of("--chr 2-3")["features_seen"].as_u64()),
        (Some(36), Some(24))
    );
    assert_eq!(of("--chr chr1")["selected"][0]["chromosome"], "1");
    // The rarer allele's copies, counted by hand over the people with a value.
    let minor = |j: usize| {
        let known: Vec<u64> = (0..60).filter_map(|i| copies(i, j)).map(u64::from).collect();
        let sum: u64 = known.iter().sum();
        (sum.min(2 * known.len() as u64 - sum), 2 * known.len() as u64)
    };
    let rare = (0..36).filter(|j| minor(*j).0 < 52).count() as u64;
    assert!(rare > 0 && of("--mac 52")["dropped"]["maf"] == rare);
    let rare = (0..36).filter(|j| (minor(*j).0 as f64) < 0.48 * minor(*j).1 as f64).count() as u64;
    assert!(rare > 0 && of("--maf 0.48")["dropped"]["maf"] == rare);
    folder.write("t.csv", "a,y\n1,2\n2,4\n3,7\n");
    folder.run("select t.csv --target y -k 1 --maf 0.1").refused(2, &["maf", "genotypes"]);
    folder.run("select t.csv --target y -k 1 --chr 1").refused(2, &["chr", "genotypes"]);
    folder.run("select x -k 1 --chr 9-2").refused(2, &["chr", "9-2"]);
}

#[test]
fn variants_of_a_negative_position_are_left_out_and_counted() {
    let folder = Folder::new();
    write(&folder, "x", (60, 36), true);
    let bim = folder.read("x.bim").replace("\t300\t", "\t-300\t").replace("\t800\t", "\t-1\t");
    folder.write("x.bim", bim);
    let result = select(&folder, "x -k 4");
    assert_eq!(result["features_seen"], 34);
    let warnings = result["warnings"].to_string();
    assert!(warnings.contains("2 variants of x.bim have a negative position"), "{warnings}");
    // Those after it keep their genotypes: the file without the two lines and their bytes.
    let bed = std::fs::read(folder.path("x.bed")).unwrap();
    let lines = |j: usize| bed[3 + 15 * j..3 + 15 * (j + 1)].to_vec();
    let kept: Vec<u8> = (0..36).filter(|j| ![3, 8].contains(j)).flat_map(lines).collect();
    let text = folder.read("x.bim");
    let text: String =
        text.lines().filter(|line| !line.contains("\t-")).map(|line| format!("{line}\n")).collect();
    folder.write("y.bed", [&bed[..3], &kept[..]].concat()).write("y.bim", text);
    folder.write("y.fam", folder.read("x.fam"));
    assert_eq!(chosen(&select(&folder, "y -k 4")), chosen(&result));
}

/// One to nine people: every rest of a byte, and a byte of padding.
#[test]
fn every_cell_of_a_few_people_is_read() {
    use keepnet_io::{OpenOptions, SeriesValues, open};
    let folder = Folder::new();
    for by_variant in [true, false] {
        for n in 1..=9 {
            write(&folder, "x", (n, 7), by_variant);
            let path = folder.path("x.bed").display().to_string();
            let mut data = open(&[path], &OpenOptions::default()).unwrap();
            for j in 0..7 {
                let SeriesValues::Numbers { values, .. } =
                    data.series(&format!("rs{j}")).unwrap().values
                else {
                    unreachable!()
                };
                let got: Vec<Option<u8>> =
                    values.iter().map(|v| (!v.is_nan()).then_some(*v as u8)).collect();
                assert_eq!(got, (0..n).map(|i| copies(i, j)).collect::<Vec<_>>(), "{n} {j}");
            }
        }
    }
}

/// The triple has the kept variants of the people that count, as `--reduced` has columns and rows.
#[test]
fn the_reduced_triple_gives_the_same_model() {
    let folder = Folder::new();
    write(&folder, "x", (61, 36), true);
    let fam: String =
        folder.read("x.fam").lines().enumerate().fold(String::new(), |text, (i, line)| {
            let fields: Vec<&str> = line.split(' ').collect();
            let y = if i % 10 == 4 { "NA" } else { fields[5] };
            text + &format!("{} {y}\n", fields[..5].join(" "))
        });
    folder.write("x.fam", fam);
    let first = select(&folder, "x -k 4 --reduced small.bed");
    assert_eq!(
        (first["rows"]["used"].as_u64(), first["rows"]["masked_target"].as_u64()),
        (Some(55), Some(6))
    );
    let again = select(&folder, "small -k 4");
    assert_eq!(
        (again["features_seen"].as_u64(), again["rows"]["input"].as_u64()),
        (Some(4), Some(55))
    );
    let sorted = |result: &Value| {
        let mut all = chosen(result);
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    };
    for (a, b) in sorted(&first).iter().zip(&sorted(&again)) {
        assert!(a.0 == b.0 && (a.1 - b.1).abs() <= 1e-10 * b.1.abs(), "{a:?} {b:?}");
    }
    let (bim, fam) = (folder.read("small.bim"), folder.read("small.fam"));
    assert!(bim.lines().all(|line| folder.read("x.bim").contains(line)), "{bim}");
    assert!(fam.lines().all(|line| folder.read("x.fam").contains(line)), "{fam}");
    // What the model predicts of the triple is what it predicts of the people in the whole file.
    folder.run("select x -k 4 --quiet --output r.json").fine();
    folder.run("predict r.json x --key IID --output all.csv").fine();
    folder.run("predict r.json small.bed --key IID --output some.csv").fine();
    let all = folder.read("all.csv");
    assert!(folder.read("some.csv").lines().all(|line| all.lines().any(|other| other == line)));
}

#[test]
fn no_digit_depends_on_threads_or_blocks() {
    let folder = Folder::new();
    write(&folder, "x", (240, 300), true);
    let of = |words: &str| {
        let mut result = select(&folder, &format!("x -k 12 {words}"));
        result.as_object_mut().unwrap().remove("run");
        result
    };
    let first = of("");
    for words in ["--threads 1", "--threads 2", "--threads 3", "--memory 60MB"] {
        let mut got = of(words);
        // A point a block: narrower blocks have more.
        if words.contains("memory") {
            got["trace"] = first["trace"].clone();
        }
        assert_eq!(got, first, "{words}");
    }
}

#[test]
fn missing_genotypes_are_the_mean_unless_told_otherwise() {
    let folder = Folder::new();
    write(&folder, "x", (60, 36), true);
    let (default, mean) = (select(&folder, "x -k 4"), select(&folder, "x -k 4 --missing mean"));
    assert_eq!(chosen(&default), chosen(&mean));
    assert_eq!(default["missing_policy"], "mean");
    let dry = folder.run("select x -k 4 --dry-run");
    assert!(dry.fine().out.contains("the default for genotypes is mean"), "{}", dry.out);
    folder.run("select x -k 4 --missing error").refused(1, &["missing", "rs"]);
}

#[test]
fn the_report_has_the_kept_variants_on_the_genome() {
    let folder = Folder::new();
    write(&folder, "x", (60, 36), true);
    folder.run("select x -k 6 --quiet --report r.html").fine();
    let page = folder.read("r.html");
    assert!(
        page.contains("Kept variants on the genome") && page.contains("chromosome and position")
    );
    folder.run("select x -k 3 --quiet --chr 2 --report r.html").fine();
    assert!(folder.read("r.html").contains("position on chromosome 2"));
    folder.write("t.csv", common::small_csv());
    folder.run("select t.csv --target y -k 2 --quiet --report r.html").fine();
    assert!(!folder.read("r.html").contains("on the genome"));
}

#[test]
fn a_score_file_has_the_coefficients_and_their_alleles() {
    let folder = Folder::new();
    write(&folder, "x", (60, 36), true);
    let result = select(&folder, "x -k 4");
    folder.run("select x -k 4 --quiet --output best.score").fine();
    let lines = chosen(&result).into_iter().map(|(name, beta)| format!("{name} A {beta}\n"));
    assert_eq!(folder.read("best.score"), lines.collect::<String>());
}

/// The test only saves full tests here: with every kept feature a neighbour it is exact.
#[test]
fn the_neighbour_test_saves_full_tests() {
    let folder = Folder::new();
    write(&folder, "x", (240, 300), true);
    let near = select(&folder, "x -k 10 --set neighbours=1000");
    let plain = select(&folder, "x -k 10 --set neighbours=0 --set theta=0.05");
    assert_eq!(chosen(&near), chosen(&plain));
    let count = |result: &Value, name: &str| result["metrics"][name].as_u64();
    assert!(count(&near, "neighbour_tests").unwrap() > 0);
    assert!(count(&near, "full_tests") < count(&plain, "full_tests"));
    assert_eq!(count(&plain, "neighbour_tests"), None);
    assert_eq!(select(&folder, "x -k 10")["params"]["neighbours"], 200);
}

#[test]
fn generated_genotypes_are_read_back_and_their_causes_found() {
    let folder = Folder::new();
    let words = "--set n=600 --set p=1000 --set causal=5 --set traits=2 --set h2=0.8 --seed 3";
    folder.run(&format!("generate genotypes {words} --output g.bed --truth truth.csv")).fine();
    for name in ["Y1", "Y2"] {
        let result = select(&folder, &format!("g --target g.phe:{name} -k 5"));
        let names: Vec<String> = chosen(&result).into_iter().map(|(name, _)| name).collect();
        let truth = folder.read("truth.csv");
        let causal: Vec<&str> = truth
            .lines()
            .filter(|line| line.starts_with(name))
            .map(|line| line.split(',').nth(2).unwrap())
            .collect();
        assert_eq!(causal.len(), 5);
        // A neighbour may stand for a cause of small weight.
        assert!(causal.iter().filter(|cause| names.iter().any(|name| name == *cause)).count() >= 2);
    }
    folder.run("generate genotypes --output g.csv").refused(2, &["output", ".bed"]);
    folder.run("generate genotypes --set q=1 --output g.bed").refused(2, &["set", "q"]);
}

#[test]
fn a_broken_file_has_its_message() {
    let folder = Folder::new();
    write(&folder, "x", (9, 5), true);
    let bed = std::fs::read(folder.path("x.bed")).unwrap();
    let (bim, fam) = (folder.read("x.bim"), folder.read("x.fam"));
    let broken = |bytes: &[u8], bim: &str, fam: &str, words: &[&str]| {
        folder.write("b.bed", bytes).write("b.bim", bim).write("b.fam", fam);
        folder.run("select b.bed -k 1").refused(1, words);
    };
    broken(b"", &bim, &fam, &["b.bed", "not a PLINK 1 .bed file", "empty"]);
    broken(b"\x89PNG....", &bim, &fam, &["b.bed", "not a PLINK 1 .bed file", "89 50 4e"]);
    broken(b"\x6c\x1b\x30.......", &bim, &fam, &["b.bed", "not a PLINK 1 .bed file", "6c 1b 30"]);
    broken(&bed[..bed.len() - 1], &bim, &fam, &["b.bed", "truncated", "17 bytes", "take 18"]);
    broken(&[&bed[..], b"x"].concat(), &bim, &fam, &["b.bed", "too long", "19 bytes", "take 18"]);
    let short = bim.replacen("\tG\n", "\n", 1);
    broken(&bed, &short, &fam, &["b.bim", "line 1", "5 fields"]);
    let place = bim.replacen("\t100\t", "\t100.0\t", 1);
    broken(&bed, &place, &fam, &["b.bim", "line 2", "\"100.0\""]);
    let person = fam.replacen("F3 I3 0 0 1", "F3", 1);
    broken(&bed, &bim, &person, &["b.fam", "line 4", "2 fields"]);
    let twice = bim.replace("rs3", "rs1").replace("\t300\t", "\t100\t");
    broken(&bed, &twice, &fam, &["b.bim", "lines 2 and 4", "1:100:A:G"]);
    std::fs::remove_file(folder.path("b.fam")).unwrap();
    folder.run("select b.bed -k 1").refused(1, &["b.fam", "No such file"]);
}
