//! The refit on problems whose solution is known in closed form.

mod common;

use common::{run, width};
use keepnet::{ColumnData, Generated, MethodSpec, Problem};

/// Two classes that one column separates. At the minimum of the squared hinge with the ridge of
/// 1e-3 two rows are within the margin, so it solves two linear equations; they were solved with 40
/// decimal digits outside of this project. The ridge alone holds the direction in which the margin
/// grows, so that a slope of 1e-9 still leaves an error of 6e-8.
#[test]
fn separable_classes_are_fitted_to_the_last_digits() {
    let x = [-20566.0, -3546.0, 15481.0, 9298.0, 680.0, 7099.0, -23487.0, -3960.0, 8424.0];
    let label = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0];
    let (slope, at_mean) = (5.120535443104643e-4, 10.676970689513133);
    let mean = x.iter().sum::<f64>() / 9.0;
    for method in ["os", "os-plus", "l1-hinge"] {
        let mut source = Generated::columns(9, vec![ColumnData::dense(x.to_vec())]);
        let mut spec = MethodSpec::k(1);
        if method != "l1-hinge" {
            spec.loss = Some(keepnet::LossKind::SquaredHinge);
        }
        let problem = Problem::binary(&label);
        let selection =
            run(&mut source, problem, method, &spec, width(4)).lanes.remove(0).selection;
        let w = selection.selected[0].coefficient[0];
        let b = selection.intercept[0] + w * mean;
        assert!((w / slope - 1.0).abs() < 1e-12, "{method}: {w}");
        assert!((b / at_mean - 1.0).abs() < 1e-12, "{method}: {b}");
    }
}
