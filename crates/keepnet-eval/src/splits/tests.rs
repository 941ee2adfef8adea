use super::*;

fn target(counts: &[usize]) -> Target {
    let codes = counts.iter().enumerate().flat_map(|(c, n)| vec![c as u32; *n]).collect();
    Target::Classes { names: (0..counts.len()).map(|c| c.to_string()).collect(), codes }
}

fn count(target: &Target, rows: &[u32], class: u32) -> usize {
    let Target::Classes { codes, .. } = target else { return 0 };
    rows.iter().filter(|row| codes[**row as usize] == class).count()
}

#[test]
fn folds_are_disjoint_cover_the_rows_and_share_the_classes() {
    let y = target(&[17, 8, 5]);
    let splits = k_fold(&y, 5, 2, 3).unwrap();
    assert_eq!(splits.len(), 10);
    for five in splits.chunks(5) {
        let mut all: Vec<u32> = five.iter().flat_map(|split| split.test.clone()).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..30));
        for split in five {
            assert_eq!(split.train.len() + split.test.len(), 30);
            assert_eq!(split.test.len(), 6);
            assert!((3..=4).contains(&count(&y, &split.test, 0)));
            assert!((1..=2).contains(&count(&y, &split.test, 1)));
            assert_eq!(count(&y, &split.test, 2), 1);
        }
    }
    assert_ne!(splits[0].test, splits[5].test);
    assert_eq!(splits, k_fold(&y, 5, 2, 3).unwrap());
    assert_ne!(splits, k_fold(&y, 5, 2, 4).unwrap());
}

#[test]
fn a_hold_out_takes_its_share_of_every_class() {
    let y = target(&[48, 24]);
    for split in hold_out(&y, 4, 1.0 / 3.0, 0).unwrap() {
        assert_eq!(split.test.len(), 24);
        assert!((15..=17).contains(&count(&y, &split.test, 0)));
    }
}

#[test]
fn what_the_user_writes_is_read() {
    assert_eq!(SplitSpec::parse("5").unwrap(), SplitSpec::Folds { folds: 5, repeats: 1 });
    assert_eq!(SplitSpec::parse("5x30").unwrap(), SplitSpec::Folds { folds: 5, repeats: 30 });
    let parsed = SplitSpec::parse("holdout:10:0.2").unwrap();
    assert_eq!(parsed, SplitSpec::HoldOut { repeats: 10, share: 0.2 });
    assert!(matches!(SplitSpec::parse("s.csv").unwrap(), SplitSpec::File(_)));
    for wrong in ["1", "0x3", "holdout:0", "holdout:2:1.5", "holdout:x"] {
        assert!(SplitSpec::parse(wrong).unwrap_err().is_usage(), "{wrong}");
    }
}

#[test]
fn a_file_speaks_of_input_rows() {
    let rows = RowMap::new(4, vec![0, 1, 3]).unwrap();
    let text = "a,b\ntrain,1\ntest,0\n,\ntrain,0\n";
    let splits = parse_file(text, &rows).unwrap();
    // Input row 3 is the third that counts.
    assert_eq!((splits[0].train.clone(), splits[0].test.clone()), (vec![0, 2], vec![1]));
    assert_eq!((splits[1].train.clone(), splits[1].test.clone()), (vec![1, 2], vec![0]));
    assert!(parse_file("a\ntrain\n", &rows).unwrap_err().to_string().contains("1 rows"));
    let wrong = parse_file("a\ntrain\nlearn\n\ntest\n", &rows).unwrap_err().to_string();
    assert!(wrong.contains("line 3") && wrong.contains("learn"), "{wrong}");
}

#[test]
fn a_split_without_a_second_class_is_refused() {
    let problem = Problem::new(target(&[3, 1]));
    let error = SplitSpec::Folds { folds: 4, repeats: 1 }.splits(&problem, 0).unwrap_err();
    assert!(error.to_string().contains("one class only"), "{error}");
}

#[test]
fn a_part_of_a_problem_keeps_its_rows_weights_and_covariates() {
    let mut problem = Problem::regression(vec![1.0, 2.0, 4.0]);
    problem.rows = RowMap::new(5, vec![4, 0, 2]).unwrap();
    problem.weight = Some(vec![1.0, 5.0, 9.0]);
    problem.covariates = vec![Covariate { name: "c".into(), values: vec![7.0, 8.0, 9.0] }];
    let part = subset(&problem, &[0, 2]).unwrap();
    assert_eq!(part.target, Target::Numbers(vec![1.0, 4.0]));
    assert_eq!((part.rows.source_row(0), part.rows.source_row(1)), (4, 2));
    assert_eq!(part.weight, Some(vec![1.0, 9.0]));
    assert_eq!(part.covariates[0].values, [7.0, 9.0]);
    part.check().unwrap();
}
