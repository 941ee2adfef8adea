//! The methods, as the registry of the engine knows them.

use std::collections::BTreeMap;

use keepnet::registry::{Relation, methods as all};
use keepnet_run::result::stream;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every method with its settings, as JSON.
#[pyfunction]
pub fn methods() -> String {
    let one = |method: &&'static keepnet::MethodInfo| -> Value {
        let setting = |s: &keepnet::registry::SettingInfo| json!({"name": s.name, "default": s.default, "help": s.help});
        let stream = stream(method.stream);
        let promises = &method.promises;
        let kept = Relation::ALL.iter().filter(|relation| promises.why_not(**relation).is_none());
        let except = promises.except.iter().map(|(relation, why)| (relation.name(), *why));
        json!({
            "name": method.name,
            "stream": stream,
            "rows": matches!(method.make, keepnet::Maker::Rows(_)),
            "summary": method.summary,
            "tasks": method.tasks,
            "cost": method.cost,
            "memory": method.memory,
            "paper": method.paper,
            "scans": method.scans,
            "needs_k": method.needs_k,
            "has_loss": method.has_loss,
            "settings": method.settings.iter().map(setting).collect::<Vec<_>>(),
            "promises": {
                "kept": kept.map(|relation| relation.name()).collect::<Vec<_>>(),
                "with": method.promises.with.iter().copied().collect::<BTreeMap<_, _>>(),
                "except": except.collect::<BTreeMap<_, _>>(),
            },
        })
    };
    Value::Array(all().iter().map(one).collect()).to_string()
}
