//! A case: a method, a table that it can be given, and how it is asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Parser;
use keepnet::Maker;
use keepnet::registry::{MethodInfo, Stream};
use keepnet_run::Runner;

use crate::answer::Answer;
use crate::fits::Loss;
use crate::hand::Hand;
use crate::options;
use crate::random::Random;
use crate::table::{Limits, Table};
use crate::write::{Form, Part, Places, Text};

/// A method and how it is asked.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub method: &'static MethodInfo,
    pub table: Table,
    pub text: Text,
    pub missing: &'static str,
    pub k: Option<usize>,
    pub loss: Option<&'static str>,
    /// Further flags, the same in every run.
    pub flags: Vec<String>,
    /// A feature that is kept whatever happens.
    pub pinned: Option<String>,
    /// Whether the measure cuts or compares codes, which a sign or a fraction would change.
    pub discrete: bool,
}

/// Nothing but this process, without its signals and probes: a test has many runs.
struct Inside;

impl Runner for Inside {
    fn leads(&self) -> bool {
        false
    }
}

/// Rows are read as rows.
pub fn by_rows(method: &MethodInfo) -> bool {
    matches!(method.make, Maker::Rows(_))
}

/// Counts result files over all threads of the test.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// How many runs there were so far.
pub fn runs() -> usize {
    RUNS.load(Ordering::Relaxed)
}

impl Case {
    /// The case of a seed for a method.
    pub fn new(seed: u64, method: &'static MethodInfo) -> Self {
        let random = &mut Random::part(seed, method.name);
        let rows = by_rows(method);
        let mut flags = Vec::new();
        let mut discrete = false;
        let measure = method.settings.iter().any(|s| s.name == "measure");
        if measure {
            let names: &[&str] = match method.name {
                "osfs" | "fast-osfs" => &["fisher-z", "g2"],
                "iamb" | "inter-iamb" | "fast-iamb" | "mmpc" | "mmmb" => &["fisher-z", "g2"],
                "ossfs-dd" | "sfs-fi" => &["fisher-z", "mi"],
                // Numbers as a target come with fisher-z alone, and the few tables need some.
                "fcbf" => &["fisher-z", "fisher-z", "fisher-z", "su", "mi"],
                _ => &["fisher-z", "fisher-z", "su", "mi"],
            };
            let name = *random.pick(names);
            discrete = name != "fisher-z";
            flags.extend(["--measure".to_string(), name.into()]);
        }
        if method.settings.iter().any(|s| s.name == "criterion") {
            let name = *random.pick(&["mid", "miq", "fcd", "fcq"]);
            discrete = name.starts_with('m');
            flags.extend(["--set".to_string(), format!("criterion={name}")]);
        }
        let classes = classes(random, method, discrete);
        let numbers = measure && !discrete || method.name == "alpha-investing";
        let limits = Limits {
            classes: (classes, classes),
            numeric_classes: numbers && classes > 2,
            discrete,
            wild: true,
        };
        let table = Table::random(random.bits(), limits);
        let text = match (rows, random.between(0, 3)) {
            (true, _) | (_, 0) => Text::Skip,
            (_, 1) if !discrete => Text::OneHot,
            _ => Text::Codes,
        };
        let missing = match (table.has_missing(), rows) {
            (false, _) => "error",
            (true, true) => *random.pick(&["zero", "mean", "drop-row"]),
            (true, false) => *random.pick(&["zero", "mean", "drop-feature", "indicator"]),
        };
        let loss = loss(random, method, classes);
        let most = 6.min(table.columns.len()).min(table.rows().saturating_sub(4) / 2).max(1);
        let k = match method.takes_k() && (method.needs_k || !measure || random.chance(0.5)) {
            true => Some(random.between(1, most)),
            false => None,
        };
        if method.stream == Stream::Groups {
            flags.extend(["--groups".to_string(), format!("block:{}", random.between(2, 5))]);
        }
        for (name, value) in method.promises.with {
            flags.extend(["--set".to_string(), format!("{name}={value}")]);
        }
        if method.name == "asy-os" {
            flags.extend(["--set".to_string(), "workers=2".into()]);
        }
        let pinned = None;
        Self { seed, method, table, text, missing, k, loss, flags, pinned, discrete }
    }

    /// The same, perhaps with further flags and a pinned feature.
    pub fn varied(mut self) -> Self {
        let random = &mut Random::part(self.seed, "options");
        self.flags.extend(options::anywhere(random, self.method));
        self.pinned = pinned(random, self.method, &self.table);
        self
    }

    pub fn hand(&self) -> Hand {
        Hand::new(&self.table, self.text, self.missing, by_rows(self.method))
    }

    /// The loss that the result should be of.
    pub fn expected_loss(&self, hand: &Hand) -> Loss {
        let classes = !self.table.target.classes.is_empty();
        let curved = match (self.method.name, classes) {
            ("l1-hinge", _) => "squared-hinge",
            ("lasso" | "sparse-group-lasso", _) => "squared",
            ("os-plus", true) => "logistic",
            (_, true) if !by_rows(self.method) => "squared-hinge",
            _ => "squared",
        };
        match self.loss.unwrap_or(curved) {
            "squared-hinge" => Loss::SquaredHinge,
            "logistic" => Loss::Logistic,
            "squared-epsilon" => Loss::SquaredEpsilon(0.1 * hand.deviation(&hand.y[0])),
            _ => Loss::Squared,
        }
    }

    /// The words of a run on files that are there.
    pub fn words(
        &self,
        inputs: &[String],
        target: Option<&str>,
        weight: Option<&str>,
    ) -> Vec<String> {
        let mut words = vec!["keepnet".to_string(), "select".into()];
        words.extend(inputs.iter().cloned());
        let mut flag = |name: &str, value: &str| words.extend([name.to_string(), value.into()]);
        flag("--method", self.method.name);
        if let Some(target) = target {
            flag("--target", target);
        }
        if let Some(weight) = weight {
            flag("--sample-weight", weight);
        }
        if let Some(k) = self.k {
            flag("-k", &k.to_string());
        }
        if let Some(loss) = self.loss {
            flag("--loss", loss);
        }
        let classes = !self.table.target.classes.is_empty();
        flag("--task", if classes { "classification" } else { "regression" });
        flag("--missing", self.missing);
        flag("--categorical", self.text.name());
        words.extend(self.flags.iter().cloned());
        words
    }

    /// The words of a run on files of a form.
    pub fn words_in(&self, form: Form, inputs: &[String], places: &Places) -> Vec<String> {
        let mut words = self.words(inputs, places.target.as_deref(), places.weight.as_deref());
        if let Some(name) = &self.pinned {
            words.extend(["--always".into(), self.table.name_in(form, self.text, name)]);
        }
        words
    }

    /// The answer of the program to the table in one file of a form.
    pub fn answer(&self, form: Form, more: &[&str]) -> Result<Answer, String> {
        let folder = tempfile::tempdir().unwrap();
        let part = Part::whole(&self.table);
        let (path, places) = self.table.write(folder.path(), "x", form, self.text, &part);
        let mut words = self.words_in(form, &[path.to_str().unwrap().to_string()], &places);
        words.extend(more.iter().map(|word| (*word).to_string()));
        self.run(&words, folder.path(), form, &Inside)
    }

    /// Runs the program in this process and reads its result.
    pub fn run(
        &self,
        words: &[String],
        folder: &std::path::Path,
        form: Form,
        runner: &dyn Runner,
    ) -> Result<Answer, String> {
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let out = folder.join(format!("result-{number}.json"));
        let mut words = words.to_vec();
        words.extend(["--quiet".into(), "--progress".into(), "none".into(), "--output".into()]);
        words.push(out.to_str().unwrap().into());
        let call = || {
            let cli = keepnet_cli::flags::Cli::try_parse_from(&words).map_err(|e| e.to_string())?;
            keepnet_cli::commands::dispatch(cli.command, runner).map_err(|e| e.to_string())
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call));
        ended.map_err(|_| format!("PANIC in {}", words.join(" ")))??;
        let text = std::fs::read_to_string(&out).unwrap();
        let json =
            serde_json::from_str(&text).map_err(|e| format!("the result is no JSON: {e}"))?;
        Ok(Answer::new(json, |name| self.table.bare_name(form, self.text, name)))
    }
}

/// A pinned feature, for one case in six of those that can have one.
fn pinned(random: &mut Random, method: &MethodInfo, table: &Table) -> Option<String> {
    let can = !by_rows(method) || !method.promises.with.is_empty();
    let column = random.pick(&table.columns);
    (can && random.chance(0.17) && !column.kind.is_text()).then(|| column.name.clone())
}

/// How many classes the target has; 0 is numbers.
fn classes(random: &mut Random, method: &MethodInfo, discrete: bool) -> usize {
    match method.name {
        "ofs" | "sofs" => 2,
        "ogfs" | "l1-hinge" | "gdm" => random.between(2, 4),
        "fcbf" if !discrete => *random.pick(&[0, 0, 0, 0, 2]),
        "annealed-ridge" | "ols" | "olsth" | "ofsa" => *random.pick(&[0, 0, 2, 3]),
        _ if discrete => random.between(2, 4),
        _ if by_rows(method) => *random.pick(&[0, 0, 2]),
        _ => *random.pick(&[0, 0, 0, 2, 2, 3]),
    }
}

/// A loss that goes with method and target; `None` is the default.
fn loss(random: &mut Random, method: &MethodInfo, classes: usize) -> Option<&'static str> {
    if !method.has_loss || by_rows(method) {
        return None;
    }
    match classes {
        0 => *random.pick(&[None, None, Some("squared-epsilon")]),
        _ => *random.pick(&[None, Some("squared"), Some("squared-hinge"), Some("logistic")]),
    }
}
