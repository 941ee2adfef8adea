//! What is tried: a file with some bytes, and a call of the program that reads it.

use std::path::Path;

use crate::random::Random;
use crate::readers::{Files, READERS, common};
use crate::states::States;

/// Most memory that a call may take by its own account.
pub const MEMORY: &str = "150MB";

/// One input.
pub struct Case {
    /// Name of the file in the work folder.
    pub file: String,
    pub bytes: Vec<u8>,
    /// Words of the call, without the program's name.
    pub call: Vec<String>,
}

/// Inputs without end.
pub trait Cases {
    /// The input of this number.
    fn case(&self, number: u64, random: &mut Random) -> Case;
}

/// The kinds of saved states.
pub const STATES: &[&str] = &["columns-state", "rows-state", "averages", "compare-state"];

/// Every name of a target, readers first.
pub fn names() -> Vec<&'static str> {
    READERS.iter().map(|reader| reader.name).chain(STATES.iter().copied()).collect()
}

/// The inputs of a target, whose files live in `folder`, which is the current one.
pub fn cases(name: &str, folder: &Path) -> Result<Box<dyn Cases>, String> {
    if let Some(reader) = READERS.iter().find(|reader| reader.name == name) {
        let files = Files::new(reader, folder).map_err(|error| format!("{name}: {error}"))?;
        return Ok(Box::new(files));
    }
    match STATES.contains(&name) {
        true => Ok(Box::new(States::new(name)?)),
        false => Err(format!("there is no target {name:?}; there are {}", names().join(", "))),
    }
}

/// A command, its input and the flags of every call.
pub fn words(command: &str, file: &str) -> Vec<String> {
    let mut call = vec![command.to_string(), file.to_string()];
    call.extend(common());
    call
}
