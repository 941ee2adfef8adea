//! Regression or classification: one rule for a whole column and for a stream.

use keepnet::{LossKind, Result, Task};

/// What the values of a target are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Text,
    Boolean,
    /// So many different numbers, of which more than two are not counted.
    Numbers(usize),
}

/// The task and why: asked for, implied by the loss, or by the values of the target.
pub(crate) fn decide(
    task: Option<Task>,
    loss: Option<LossKind>,
    seen: impl FnOnce() -> Result<Seen>,
) -> Result<(Task, String)> {
    if let Some(task) = task {
        return Ok((task, "as asked for".into()));
    }
    if let Some(loss) = loss
        && let Some(task) = loss.task()
    {
        return Ok((task, format!("by the {} loss", loss.name())));
    }
    let (task, why) = match seen()? {
        Seen::Text => (Task::Classification, "the target is text"),
        Seen::Boolean => (Task::Classification, "the target is boolean"),
        Seen::Numbers(0 | 1) => (Task::Regression, "the target has one value only"),
        Seen::Numbers(2) => (Task::Classification, "the target has two distinct values"),
        Seen::Numbers(_) => (Task::Regression, "the target has more than two values"),
    };
    Ok((task, why.into()))
}
