//! Decoders of other people, which panic on files that lie.
//!
//! What can be checked is checked before; what still panics becomes an error. The panic's own
//! message is kept back on the thread that decodes, and goes into the error.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use keepnet::{Error, Result};

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs a decoder; its panic is an error.
pub(crate) fn guarded<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !SILENT.get() {
                usual(info);
            }
        }));
    });
    let before = SILENT.replace(true);
    let result = catch_unwind(AssertUnwindSafe(decode));
    SILENT.set(before);
    result.unwrap_or_else(|panic| {
        let what = one_line(said(&*panic));
        Err(Error::Data(format!("the file is damaged: its decoder gave up ({what})")))
    })
}

/// What a decoder says, in one line.
pub(crate) fn one_line(text: impl std::fmt::Display) -> String {
    text.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_a_result_is_itself() {
        assert_eq!(guarded(|| Ok(3)).unwrap(), 3);
        let error = guarded::<()>(|| panic!("offset {} of 4", 9)).unwrap_err();
        assert_eq!(error.to_string(), "the file is damaged: its decoder gave up (offset 9 of 4)");
        assert!(!SILENT.get());
    }
}
