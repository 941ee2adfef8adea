//! Text of somebody's data, made safe to show.

use std::fmt::Write as _;

/// Text with its control characters written out, as in `\n` or `\u{1b}`: a name from a file must
/// not move the cursor, colour the screen or begin a line that looks like ours.
#[must_use]
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            // Line and paragraph separators, and marks that turn the direction of writing.
            '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                let _ = write!(out, "{}", c.escape_unicode());
            }
            c if c.is_control() => {
                let _ = write!(out, "{}", c.escape_default());
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_written_out_and_letters_stay() {
        assert_eq!(visible("a\u{1b}[31mb\nc\t\r"), "a\\u{1b}[31mb\\nc\\t\\r");
        assert_eq!(visible("\u{9b}2J\u{7f}\u{202e}"), "\\u{9b}2J\\u{7f}\\u{202e}");
        assert_eq!(visible("Größe 温度 'x' \\ \"y\""), "Größe 温度 'x' \\ \"y\"");
    }
}
