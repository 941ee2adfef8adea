//! Pictures: SVG files that stand by themselves, in the reader's light or dark mode.

use std::fmt::Write;

use keepnet::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::THEME;
use super::chart::{FONT, INK, LINE, SOFT, WIDTH, colour, cut, failed, short, themed};

/// A number that somebody published beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// What it is of.
    pub label: String,
    /// The published number.
    pub theirs: Option<f64>,
    /// Ours, and its standard error.
    pub ours: (f64, f64),
}

const ROW: i32 = 20;
const HEAD: i32 = 54;
const NAMES: i32 = 330;

/// Our numbers with two standard errors on either side, and the published ones beside them;
/// `log` where they span powers of ten.
pub fn estimates(unit: &str, rows: &[Estimate], log: bool) -> Result<String> {
    let place = |value: f64| if log { value.max(1e-9).log10() } else { value };
    let ends = |row: &Estimate| {
        let (mean, se) = row.ours;
        let wide = if log { 0.0 } else { 2.0 * se };
        [Some(place(mean) - wide), Some(place(mean) + wide), row.theirs.map(place)]
    };
    let all: Vec<f64> =
        rows.iter().flat_map(ends).flatten().filter(|value| value.is_finite()).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min).min(1e300);
    let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max).max(low);
    let space = (0.04 * (high - low)).max(1e-3);
    let (low, high) = (low - space, high + space);
    let width = f64::from(WIDTH as i32 - NAMES - 40);
    let at = |value: f64| NAMES + ((value - low) / (high - low) * width) as i32;
    let height = HEAD + ROW * rows.len() as i32 + 34;
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, height as u32)).into_drawing_area();
        let text =
            |side: HPos| (FONT, 16).into_font().color(&INK).pos(Pos::new(side, VPos::Center));
        key(&root, &text(HPos::Left))?;
        let end = HEAD + ROW * rows.len() as i32;
        for tick in ticks(low, high) {
            let x = at(tick);
            let line = PathElement::new([(x, HEAD - 4), (x, end)], LINE.stroke_width(1));
            root.draw(&line).map_err(failed)?;
            let name = if log { short(&10f64.powf(tick)) } else { short(&tick) };
            root.draw_text(&name, &text(HPos::Center), (x, end + 10)).map_err(failed)?;
        }
        root.draw_text(&cut(unit, 60), &text(HPos::Left), (NAMES, end + 26)).map_err(failed)?;
        for (line, row) in rows.iter().enumerate() {
            let y = HEAD + ROW * line as i32 + ROW / 2;
            let label = cut(&row.label, 44);
            root.draw_text(&label, &text(HPos::Right), (NAMES - 12, y)).map_err(failed)?;
            let (mean, se) = row.ours;
            if !log && se > 0.0 {
                let ends = [(at(mean - 2.0 * se), y), (at(mean + 2.0 * se), y)];
                root.draw(&PathElement::new(ends, colour(0).stroke_width(2))).map_err(failed)?;
            }
            root.draw(&Circle::new((at(place(mean)), y), 4, colour(0).filled())).map_err(failed)?;
            if let Some(value) = row.theirs {
                let ring = Circle::new((at(place(value)), y), 6, colour(1).stroke_width(2));
                root.draw(&ring).map_err(failed)?;
            }
        }
        root.present().map_err(failed)?;
    }
    Ok(themed(svg))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// What the marks mean.
fn key(root: &Area<'_>, text: &TextStyle<'_>) -> Result<()> {
    let (x, y) = (NAMES, 14);
    root.draw(&Circle::new((x + 6, y), 4, colour(0).filled())).map_err(failed)?;
    root.draw_text("ours, two standard errors either way", text, (x + 18, y)).map_err(failed)?;
    root.draw(&Circle::new((x + 306, y), 6, colour(1).stroke_width(2))).map_err(failed)?;
    root.draw_text("published", text, (x + 318, y)).map_err(failed)?;
    let line =
        PathElement::new([(8, HEAD - 6), (WIDTH as i32 - 8, HEAD - 6)], SOFT.stroke_width(1));
    root.draw(&line).map_err(failed)
}

/// Round numbers between two, about six of them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 6.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|at| at as f64 * step).collect()
}

/// Charts one below the other, each under its title, as one file.
#[must_use]
pub fn standalone(parts: &[(String, String)]) -> String {
    let mut body = String::new();
    let mut y = 0;
    for (title, svg) in parts {
        let safe = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = write!(body, "<text x=\"12\" y=\"{}\" class=\"title\">{safe}</text>", y + 24);
        let inner = svg.replacen("<svg ", &format!("<svg y=\"{}\" ", y + 36), 1);
        body += &inner;
        y += 36 + height(svg) + 12;
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{y}\" viewBox=\"0 0 {WIDTH} {y}\">\n\
         <style>{THEME}svg {{ color: var(--ink); }} text {{ font-family: system-ui, sans-serif; }} \
         .title {{ font-size: 19px; font-weight: 600; fill: var(--ink); }}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"var(--page)\"/>\n{body}</svg>\n"
    )
}

/// The height that a chart says it has.
fn height(svg: &str) -> usize {
    let rest = svg.split("height=\"").nth(1).unwrap_or("0");
    rest.split('"').next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks(0.12, 0.69), [0.2, 0.30000000000000004, 0.4, 0.5, 0.6000000000000001]);
        assert_eq!(ticks(-3.0, 3.0), [-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_picture_has_its_colours_and_every_part() {
        let rows = [
            Estimate { label: "a <b>".into(), theirs: Some(0.5), ours: (0.6, 0.01) },
            Estimate { label: "c".into(), theirs: None, ours: (f64::NAN, f64::NAN) },
        ];
        let chart = estimates("accuracy", &rows, false).unwrap();
        let page = standalone(&[("one & two".into(), chart.clone()), ("three".into(), chart)]);
        assert!(page.contains("prefers-color-scheme: dark") && page.contains("--s0"));
        assert!(page.contains("one &amp; two") && page.contains("a &lt;b&gt;"), "{page}");
        assert_eq!(page.matches("<svg").count(), 3);
        estimates("seconds", &[], true).unwrap();
    }
}
