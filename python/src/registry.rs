//! The methods, as the registry of the engine knows them.

use keepnet::registry::{Stream, methods as all};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The name of what flows past.
pub fn stream(stream: Stream) -> &'static str {
    match stream {
        Stream::Features => "features",
        Stream::Groups => "groups",
        Stream::Samples => "samples",
        Stream::Batch => "batch",
    }
}

/// Every method with its settings, as JSON.
#[pyfunction]
pub fn methods() -> String {
    let one = |method: &&'static keepnet::MethodInfo| -> Value {
        let setting = |s: &keepnet::registry::SettingInfo| json!({"name": s.name, "default": s.default, "help": s.help});
        let stream = stream(method.stream);
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
        })
    };
    Value::Array(all().iter().map(one).collect()).to_string()
}
