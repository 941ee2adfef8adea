//! Every column method with each of its losses, and a problem and settings that fit it.

use keepnet::{LossKind, MethodInfo, MethodSpec, Problem, Stream, registry};

use super::Data;

/// Every method on columns, with each of its losses, or without where it has none.
pub fn cases() -> Vec<(&'static MethodInfo, Option<LossKind>)> {
    let mut out = Vec::new();
    for method in registry::methods().iter().copied().filter(|m| m.stream != Stream::Samples) {
        match method.has_loss {
            true => out.extend(LossKind::ALL.map(|loss| (method, Some(loss)))),
            false => out.push((method, None)),
        }
    }
    out
}

/// A target that the method takes.
pub fn problem(data: &Data, method: &MethodInfo, loss: Option<LossKind>) -> Problem {
    match (method.name, loss) {
        ("gdm" | "group-saola" | "l1-hinge" | "ogfs", _) => Problem::binary(&data.labels()),
        (_, Some(loss)) => data.problem(loss),
        (_, None) => Problem::regression(data.y.clone()),
    }
}

/// Settings under which it keeps something.
pub fn spec(method: &MethodInfo, loss: Option<LossKind>) -> MethodSpec {
    let spec = MethodSpec { loss, ..MethodSpec::k(8) };
    match method.name {
        "asy-os" => spec.set("centre", "simulated").set("workers", 3),
        "group-saola" => MethodSpec::default().set("measure", "fisher-z").set("alpha", 0.3),
        "saola" | "saola-max" | "osfs" | "fast-osfs" => spec.set("measure", "fisher-z"),
        "ogfs" => MethodSpec::default(),
        _ => spec,
    }
}
