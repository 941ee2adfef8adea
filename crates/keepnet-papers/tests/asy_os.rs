//! `asy-os` on the stress designs.

use keepnet::select::substitution::asy_os::{AsyOs, AsyOsParams, CentreKind};
use keepnet::{Budget, ColumnData, Driver, Generated, Lane, Order, Quiet, RunOptions};
use keepnet_papers::Workload;

/// Twenty workers at full delay, `eta=auto`: the loss ends below that of no model at all, on
/// every stress design.
#[test]
fn nothing_diverges_at_twenty_workers() {
    for name in ["equicorrelated", "toeplitz", "iid", "duplicates", "offset"] {
        let settings = [("p", "300"), ("n", "200"), ("s", "20"), ("seed", "4")];
        let settings =
            settings.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let workload = Workload::parse(name, &settings).unwrap();
        let problem = workload.problem();
        let x: Vec<ColumnData> = (0..workload.features()).map(|j| workload.column(j)).collect();
        for centre in [CentreKind::Simulated, CentreKind::Threads] {
            let params = AsyOsParams { centre, ..AsyOsParams::new(20, 20) };
            let selector = AsyOs::new(params, &problem, &Budget::unlimited()).unwrap();
            let mut source = Generated::columns(workload.rows(), x.clone());
            let lanes = vec![Lane::new(problem.clone(), Box::new(selector))];
            let options = RunOptions { order: Order::Shuffled, ..RunOptions::default() };
            let driver = Driver::new(&mut source, lanes, options).unwrap();
            let report = driver.run(&mut Quiet).unwrap();
            let y = problem.target.outputs().remove(0);
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            let null =
                0.5 * y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / y.len() as f64;
            let losses: Vec<f64> =
                report.lanes[0].trace.iter().filter_map(|point| point.loss).collect();
            let worst = losses.iter().fold(0.0, |a: f64, b| a.max(*b));
            let last = losses[losses.len() - 1];
            eprintln!("{name} {centre:?}: null {null:.3} worst {worst:.3} last {last:.3}");
            assert!(worst <= 2.0 * null && last < 0.9 * null, "{name} {centre:?} {losses:?}");
        }
    }
}
