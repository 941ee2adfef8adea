//! Names that were nearly right.

use strsim::osa_distance;

/// Most names that are offered.
const MOST: usize = 3;

/// The known names that look most like `name`, the nearest first.
///
/// A name that differs in case, hyphens and underscores alone is the only one offered. Otherwise a
/// name is near if a quarter of its letters and one more are changed, added, removed or swapped.
#[must_use]
pub fn near<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let (lower, letters) = (name.to_lowercase(), letters(name));
    let mut near: Vec<(usize, &str)> = Vec::new();
    for other in known {
        if !letters.is_empty() && letters == self::letters(other) {
            return vec![other];
        }
        let distance = osa_distance(&lower, &other.to_lowercase());
        if distance <= 1 + name.len().max(other.len()) / 4 {
            near.push((distance, other));
        }
    }
    near.sort_unstable();
    near.into_iter().take(MOST).map(|(_, other)| other).collect()
}

/// The question to ask of near names, for the end of an error; empty where there are none.
#[must_use]
pub fn hint(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        near => format!("; did you mean {}?", near.join(", ")),
    }
}

fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_hyphens_do_not_count() {
        let known = ["os", "os-plus", "asy-os"];
        for name in ["osplus", "os_plus", "OS-Plus", "OSPlus"] {
            assert_eq!(near(name, known), ["os-plus"]);
        }
    }

    #[test]
    fn the_nearest_comes_first_and_three_at_most() {
        assert_eq!(near("lasos", ["saola", "lasso", "ols"]), ["lasso"]);
        assert_eq!(near("a", ["e", "d", "c", "b"]), ["b", "c", "d"]);
        assert!(near("speed", ["alpha", "bins"]).is_empty());
        assert_eq!(hint(&["x", "y"]), "; did you mean x, y?");
    }
}
