//! No signals: the system ends the process by itself.

use keepnet::Result;

/// Nothing is listened to.
pub fn listen(_: fn(bool)) -> Result<()> {
    Ok(())
}

/// Ends the process.
#[cfg_attr(test, expect(dead_code, reason = "it would end the tests"))]
pub fn exit(status: u8) -> ! {
    std::process::exit(status.into())
}

/// A mapped file cannot be made shorter while it is read.
#[expect(clippy::unnecessary_wraps, reason = "the same as where it can")]
pub fn watch_maps() -> Result<()> {
    Ok(())
}
