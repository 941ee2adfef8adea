//! The README shows the example as it is compiled.

#[test]
fn the_readme_has_the_example_word_for_word() {
    let readme = include_str!("../../../README.md");
    let example = include_str!("../examples/generated.rs");
    assert!(readme.contains(&format!("```rust\n{example}```")), "copy the example into README.md");
}
