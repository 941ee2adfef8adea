//! Makes a failing input smaller while it still fails: pieces left out, then pieces of zeros.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::parent::{fault, limited};
use crate::states::{seal, split};

/// How long shrinking may take, and how long one try.
const TIME: Duration = Duration::from_secs(60);
const ONCE: Duration = Duration::from_secs(10);

/// Shrinks the input in `folder` and writes it to `place`; the lengths before and after, or
/// `None` where it does not fail by itself.
pub fn shrink(folder: &Path, place: &Path) -> std::io::Result<Option<(usize, usize)>> {
    let Some(name) = input(folder)? else { return Ok(None) };
    let begun = Instant::now();
    let file = std::fs::read(folder.join(&name))?;
    // Of a sealed state the body is shrunk, and sealed again.
    let sealed = split(&file).map(|(header, body)| (header.to_vec(), body.to_vec()));
    let wrap = |bytes: &[u8]| match &sealed {
        Some((header, _)) => seal(header, bytes),
        None => bytes.to_vec(),
    };
    let whole = sealed.as_ref().map_or(file.clone(), |(_, body)| body.clone());
    let fails = |bytes: &[u8]| -> std::io::Result<bool> {
        std::fs::write(folder.join(&name), wrap(bytes))?;
        let _ = std::fs::remove_file(folder.join("panic"));
        let (started, mut child) = (Instant::now(), limited(&["again"], folder)?);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(fault(folder, status).is_some());
            }
            if started.elapsed() > ONCE {
                child.kill()?;
                child.wait()?;
                return Ok(true);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    if !fails(&whole)? {
        return Ok(None);
    }
    let mut best = whole.clone();
    let mut piece = best.len().div_ceil(2);
    while piece > 0 && begun.elapsed() < TIME {
        let mut at = 0;
        while at < best.len() && begun.elapsed() < TIME {
            let end = (at + piece).min(best.len());
            let mut without = best.clone();
            without.drain(at..end);
            if fails(&without)? {
                best = without;
                continue;
            }
            if best[at..end].iter().any(|byte| *byte != 0) {
                let mut zeros = best.clone();
                zeros[at..end].fill(0);
                if fails(&zeros)? {
                    best = zeros;
                }
            }
            at = end;
        }
        piece /= 2;
    }
    std::fs::write(place.join(format!("small-{name}")), wrap(&best))?;
    Ok(Some((whole.len(), best.len())))
}

/// The file that the call reads: its name begins with `input`.
fn input(folder: &Path) -> std::io::Result<Option<String>> {
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("input.") {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
