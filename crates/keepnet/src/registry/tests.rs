//! The table of methods holds together: defaults, bounds, choices, and what `make` does with them.

use super::setting::{Given, Kind, Usual};
use super::*;
use crate::data::row::RowBlock;
use crate::learn::testing;
use crate::measure::MeasureKind;
use crate::selection::Value;

/// The settings in force of a method with a few rows, as its selection shows them.
fn params(method: &MethodInfo, spec: &MethodSpec) -> Result<Vec<(&'static str, Value)>> {
    let (given, p) = (testing::rows(60, 6, 2, 5), 6);
    let classes = method.promises.why_not(Relation::Target).is_some();
    let target = |y: &f64| if classes { f64::from(*y > 0.0) } else { *y };
    let y: Vec<f64> = given.y().iter().map(target).collect();
    let budget = Budget::unlimited();
    if let Maker::Columns(_) = method.make {
        let coded = spec.settings.get("measure").and_then(|name| match name {
            Value::Text(name) => MeasureKind::named(name),
            _ => None,
        });
        let codes = classes || coded.is_some_and(|measure| !measure.info().numbers);
        let labels: Vec<f64> = y.iter().map(|y| f64::from(*y > 0.0)).collect();
        let problem = if codes { Problem::binary(&labels) } else { Problem::regression(y) };
        return Ok(make(method, spec, &problem, budget)?.selection()?.params);
    }
    let problem = if classes { RowProblem::binary(p) } else { RowProblem::regression(p) };
    let mut rows = RowBlock::new(p, y.len());
    for (row, y) in given.rows().zip(y) {
        rows.push(row, y, 1.0)?;
    }
    let mut learner = make_rows(method, spec, &problem, budget)?;
    learner.learn_block(&rows)?;
    Ok(learner.selection()?.params)
}

/// What a method is asked in every test: a size, where it takes one.
fn asked(method: &MethodInfo) -> MethodSpec {
    MethodSpec { k: method.takes_k().then_some(2), ..MethodSpec::default() }
}

fn usual(setting: &Setting) -> Option<Given> {
    match setting.usual {
        Usual::Value(given) => Some(given),
        Usual::Preset { tuned, .. } => Some(Given::Number(tuned)),
        Usual::Derived(_) => None,
    }
}

#[test]
fn every_default_is_within_its_own_bounds() {
    for method in methods() {
        for setting in method.settings {
            let what = format!("{} {}", method.name, setting.name);
            assert!(!setting.help.is_empty() && !setting.default().is_empty(), "{what}");
            if let Usual::Preset { published, .. } = setting.usual {
                setting.check(published).expect(&what);
                assert!(method.has("preset"), "{what}");
            }
            let Some(usual) = usual(setting) else { continue };
            assert_eq!(setting.read(&usual.into()).expect(&what), usual, "{what}");
            assert_eq!(setting.read(&setting.default().into()).expect(&what), usual, "{what}");
        }
        let mut names: Vec<_> = method.settings.iter().map(|setting| setting.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), method.settings.len(), "{} has a setting twice", method.name);
    }
}

#[test]
fn defaults_that_are_spelled_out_change_nothing() {
    for method in methods() {
        let plain = params(method, &asked(method)).expect(method.name);
        assert!(!plain.is_empty(), "{}", method.name);
        let (mut typed, mut text) = (asked(method), asked(method));
        for setting in method.settings {
            if let Some(usual) = usual(setting) {
                // One without effect on this problem is refused, whatever its value.
                let alone = params(method, &asked(method).set(setting.name, usual));
                if alone.is_err_and(|error| error.to_string().contains("has no effect here")) {
                    continue;
                }
                typed = typed.set(setting.name, usual);
                text = text.set(setting.name, setting.default());
            }
        }
        assert_eq!(params(method, &typed).expect(method.name), plain, "{}", method.name);
        assert_eq!(params(method, &text).expect(method.name), plain, "{}", method.name);
    }
}

#[test]
fn every_listed_choice_is_taken_and_no_other() {
    for method in methods() {
        for setting in method.settings {
            let what = format!("{} {}", method.name, setting.name);
            let words: Vec<&str> = match setting.kind {
                Kind::Flag => vec!["true", "false"],
                _ => setting.words.to_vec(),
            };
            for word in &words {
                let mut spec = asked(method).set(setting.name, *word);
                // A test of classes is refused for numbers, and the error names those that fit.
                if (method.name, setting.name) == ("screen", "test") {
                    let refused = params(method, &spec).err().map(|error| error.to_string());
                    if let Some(error) = refused {
                        assert!(error.contains("expected a test for numbers"), "{what}: {error}");
                        continue;
                    }
                }
                // Some choices belong to a choice of another setting, and the error names it.
                let other = match (method.name, setting.name, *word) {
                    ("ossfs-dd" | "sfs-fi", "measure", "su") => {
                        Some(("rules", Value::from("authors")))
                    }
                    ("sparse-group-lasso", "ratio", "true") => Some(("lambda", Value::from(0.5))),
                    ("mmpc" | "mmmb", "few-rows", _) => Some(("measure", Value::from("g2"))),
                    _ => None,
                };
                if let Some((name, value)) = other {
                    let error = params(method, &spec).unwrap_err().to_string();
                    assert!(error.contains(name), "{what}={word}: {error}");
                    spec = spec.set(name, value);
                }
                let shown = params(method, &spec);
                let shown = shown.unwrap_or_else(|error| panic!("{what}={word}: {error}"));
                let named = shown.iter().find(|(name, _)| *name == setting.name);
                let same = |value: &Value| value.to_string() == *word || *word == "auto";
                assert!(named.is_none_or(|(_, value)| same(value)), "{what}={word}: {named:?}");
            }
            for other in ["nonesuch", "", "1/nothing"] {
                let error = params(method, &asked(method).set(setting.name, other)).unwrap_err();
                assert!(error.is_usage(), "{what}");
                let said = format!("{} is {other}, expected {}", setting.name, setting.wanted());
                assert_eq!(error.to_string(), said);
                assert!(words.iter().all(|word| said.contains(word)), "{said}");
            }
        }
    }
}

#[test]
fn settings_are_checked_before_a_method_is_made() {
    for method in methods() {
        for setting in method.settings {
            let wrong = match setting.kind {
                Kind::Flag => Value::from(1),
                Kind::Choice => Value::from(true),
                _ => Value::from(f64::NAN),
            };
            let spec = MethodSpec::default().set(setting.name, wrong);
            let error = check_settings(method, &spec).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{} is ", setting.name)), "{error}");
            assert_eq!(params(method, &spec).unwrap_err().to_string(), error);
        }
        let error = params(method, &asked(method).set("speed", 1)).unwrap_err().to_string();
        assert!(error.contains(&format!("speed ({} knows ", method.name)), "{error}");
    }
}

#[test]
fn measures_are_offered_where_they_can_do_what_is_needed() {
    for method in methods().iter().filter(|method| method.has("measure")) {
        let setting = method.setting("measure").unwrap();
        let (auto, words) = setting.words.split_first().unwrap();
        let conditional =
            ["osfs", "iamb", "mmpc", "mmmb"].iter().any(|name| method.name.ends_with(name));
        let able = MeasureKind::ALL.iter().filter(|measure| match conditional {
            true => measure.info().conditional,
            false => measure.info().pairs,
        });
        let able: Vec<_> = able.map(|measure| measure.name()).collect();
        assert_eq!((*auto, words), ("auto", able.as_slice()), "{}", method.name);
    }
}
