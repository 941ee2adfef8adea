//! The documentation shows the example as it is compiled.

#[test]
fn the_documentation_has_the_example_word_for_word() {
    let page = include_str!("../../../docs/examples.md");
    let example = include_str!("../examples/generated.rs");
    assert!(page.contains(&format!("```rust\n{example}```")), "copy it into docs/examples.md");
}
