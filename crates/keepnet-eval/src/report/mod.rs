//! A report: one page of HTML with charts and tables that needs no network.
//!
//! A [`Page`] holds facts, charts and tables as text and numbers; [`Page::html`] puts them into
//! the template, which escapes every name. Charts are SVG in the page itself, drawn by
//! [`chart`]; their colours are CSS variables, so that they follow the reader's light or dark
//! mode and print in black on white. Under each chart stands the table of its numbers.

pub mod chart;
pub mod comparison;
pub mod picture;

use keepnet::{Error, Result};
use minijinja::{AutoEscape, Environment};
use serde::Serialize;

/// Colours of light mode, dark mode and print.
const THEME: &str = include_str!("theme.css");

/// Most lines of a table under a chart that are shown without a click.
const OPEN: usize = 12;

/// A table of text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Headings.
    pub head: Vec<String>,
    /// Lines, a cell a heading.
    pub rows: Vec<Vec<String>>,
    /// Which columns are text and stand to the left; found when the page is made.
    text: Vec<bool>,
}

impl Table {
    /// A table with these headings.
    #[must_use]
    pub fn new(head: &[&str]) -> Self {
        Self::of(head.iter().map(|h| (*h).to_string()).collect(), Vec::new())
    }

    /// A table of headings and lines.
    #[must_use]
    pub fn of(head: Vec<String>, rows: Vec<Vec<String>>) -> Self {
        Self { head, rows, text: Vec::new() }
    }

    /// Columns of words stand to the left, of numbers to the right.
    fn align(&mut self) {
        let number = |cell: &String| {
            let start = cell.trim_start_matches(['-', '+', '.']);
            start.is_empty() || start.starts_with(|c: char| c.is_ascii_digit())
        };
        let column = |at: usize| self.rows.iter().filter_map(move |row| row.get(at));
        self.text = (0..self.head.len()).map(|at| !column(at).all(number)).collect();
    }

    /// Leaves out columns that say nothing in any line.
    fn drop_empty(&mut self) {
        let says = |at: usize| {
            let mut cells = self.rows.iter().filter_map(|row| row.get(at));
            self.rows.is_empty() || cells.any(|cell| !matches!(cell.as_str(), "" | "-"))
        };
        let keep: Vec<bool> = (0..self.head.len()).map(says).collect();
        let kept = |cells: &mut Vec<String>| {
            let mut keep = keep.iter().copied();
            cells.retain(|_| keep.next().unwrap_or(true));
        };
        kept(&mut self.head);
        self.rows.iter_mut().for_each(kept);
    }

    /// Adds a line.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }
}

/// A titled part of the page: a chart, a table, or both.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// A sentence that says what is shown.
    pub note: String,
    /// The chart as SVG, empty where there is none.
    pub svg: String,
    /// Its numbers.
    pub table: Table,
    /// Whether the table is open without a click.
    pub open: bool,
}

impl Section {
    /// A chart with its numbers beneath.
    #[must_use]
    pub fn chart(title: &str, note: &str, svg: String, table: Table) -> Self {
        let open = table.rows.len() <= OPEN;
        Self { title: title.into(), note: note.into(), svg, table, open }
    }

    /// A table by itself.
    #[must_use]
    pub fn table(title: &str, note: &str, table: Table) -> Self {
        Self { title: title.into(), note: note.into(), svg: String::new(), table, open: true }
    }
}

/// A whole report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Page {
    /// Title.
    pub title: String,
    /// Name and value of what the run was.
    pub facts: Vec<(String, String)>,
    /// What the reader should know.
    pub warnings: Vec<String>,
    /// Charts and tables.
    pub sections: Vec<Section>,
    /// The command that made it.
    pub command: String,
}

impl Page {
    /// The page as HTML.
    pub fn html(&self) -> Result<String> {
        let failed =
            |error: minijinja::Error| Error::Data(format!("cannot make the report: {error}"));
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_global("theme", THEME);
        environment.add_template("report.html", include_str!("report.html")).map_err(failed)?;
        let template = environment.get_template("report.html").map_err(failed)?;
        let mut page = self.clone();
        for section in &mut page.sections {
            section.table.drop_empty();
            section.table.align();
            section.svg = named(&section.svg, &section.title);
        }
        template.render(minijinja::value::Serde(&page)).map_err(failed)
    }
}

/// A chart that says what it is to a reader that does not see it.
fn named(svg: &str, title: &str) -> String {
    let Some((before, after)) = svg.split_once("<svg ") else { return svg.into() };
    let Some((attributes, drawing)) = after.split_once('>') else { return svg.into() };
    let title = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("{before}<svg role=\"img\" {attributes}>\n<title>{title}</title>{drawing}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_everywhere() {
        let evil = "<script>alert('x')</script>&\"";
        let mut table = Table::new(&[evil]);
        table.push(vec![evil.into()]);
        let bars = chart::bars("score", &[(evil.to_string(), 1.0)]).unwrap();
        let series = chart::Series::line(evil, vec![(0.0, 1.0), (1.0, 2.0)]);
        let axes = chart::Axes::new(evil, evil);
        let lines = chart::plot(&axes, &[series.clone(), series]).unwrap();
        let page = Page {
            title: evil.into(),
            facts: vec![(evil.into(), evil.into())],
            warnings: vec![evil.into()],
            sections: vec![
                Section::chart(evil, evil, bars, table.clone()),
                Section::chart(evil, evil, lines, table),
            ],
            command: evil.into(),
        };
        let html = page.html().unwrap();
        assert!(!html.contains("<script"), "{html}");
        assert!(html.matches("&lt;script").count() >= 10);
        assert_eq!(html.matches("<svg").count(), 2);
        assert!(!html.contains("http://") || html.contains("http://www.w3.org/2000/svg"));
        assert!(!html.contains("https://") && !html.contains("src="));
        assert_eq!(html.matches("<svg role=\"img\"").count(), 2);
        assert_eq!(html.matches("<title>").count(), 3, "of the page and of each chart");
    }

    #[test]
    fn a_column_that_says_nothing_is_left_out() {
        let mut table = Table::new(&["feature", "p-value", "score"]);
        table.push(["a", "-", "1"].map(String::from).to_vec());
        table.push(["b", "-", "-"].map(String::from).to_vec());
        table.drop_empty();
        assert_eq!(table.head, ["feature", "score"]);
        assert_eq!(table.rows, [["a", "1"], ["b", "-"]]);
    }
}
