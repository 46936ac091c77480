//! Memory as areas: a squarified treemap (Bruls, Huizing, van Wijk 2000), laid out here, so that it is
//! there without a script.

use crate::text::{cut, width};
use keyward_fact::visible;
use serde::Serialize;

/// Areas that fill a rectangle.
#[derive(Debug, Serialize)]
pub struct Treemap {
    width: f64,
    height: f64,
    tiles: Vec<Tile>,
}

/// Some bytes of a keyspace, and whose they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Area {
    /// What it is called
    pub name: String,
    /// Where it leads
    pub href: String,
    /// The colour's name: a lifecycle, `unknown`, `foreign` or `group`
    pub class: String,
    /// Its keys
    pub keys: u64,
    /// Its bytes
    pub bytes: u64,
    /// `208.0 MiB`
    pub size: String,
    /// `28.6 %`
    pub share: String,
    /// All of it in a sentence
    pub tip: String,
    /// `1 error`
    pub flag: String,
    /// Whether the flag is about errors
    pub serious: bool,
}

/// An area's rectangle, and its label if there is room for one.
#[derive(Debug, Serialize)]
struct Tile {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
    href: String,
    class: String,
    tip: String,
    name: String,
    size: String,
    share: String,
    /// Whether the lines run from top to bottom
    turned: bool,
    lines: Vec<Line>,
}

/// A line of a label; its place counts from the tile's corner.
#[derive(Debug, Serialize)]
struct Line {
    class: &'static str,
    x: f64,
    y: f64,
    text: String,
}

#[derive(Debug, Clone, Copy)]
struct Rect {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
}

/// The pixels of a column in names and in what is below them, generously.
const NAME: f64 = 8.0;
const SIZE: f64 = 6.9;
const PADDING: f64 = 8.0;

/// The least height of a tile with a label.
const LOW: f64 = 17.0;

/// The fewest columns of a name that say something.
const FEWEST: usize = 5;

impl Treemap {
    /// The areas in a rectangle; they have bytes, and those with the most come first.
    pub fn new(areas: &[Area], width: f64, height: f64) -> Self {
        let all: f64 = areas.iter().map(|area| float(area.bytes)).sum();
        let pixels: Vec<f64> =
            areas.iter().map(|area| float(area.bytes) / all * width * height).collect();
        let rects = squarify(&pixels, Rect { x: 0.0, y: 0.0, w: width, h: height });
        let tiles = areas.iter().zip(rects).map(|(area, rect)| Tile::new(area, rect)).collect();
        Treemap { width, height, tiles }
    }
}

/// A rectangle for each area, as square as can be.
fn squarify(areas: &[f64], mut free: Rect) -> Vec<Rect> {
    let mut rects = Vec::with_capacity(areas.len());
    let mut rest = areas;
    while !rest.is_empty() {
        let side = free.w.min(free.h);
        let mut row = 1;
        while row < rest.len() && worst(&rest[..=row], side) <= worst(&rest[..row], side) {
            row += 1;
        }
        free = lay(&rest[..row], free, &mut rects);
        rest = &rest[row..];
    }
    rects
}

/// How far from square the least square of a row is.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let most = row.iter().copied().fold(f64::MIN, f64::max);
    let least = row.iter().copied().fold(f64::MAX, f64::min);
    let (side, sum) = (side * side, sum * sum);
    (side * most / sum).max(sum / (side * least))
}

/// Lays a row along the shorter side; what is left is free.
fn lay(row: &[f64], free: Rect, rects: &mut Vec<Rect>) -> Rect {
    let sum: f64 = row.iter().sum();
    let across = free.w >= free.h;
    let depth = sum / if across { free.h } else { free.w };
    let mut at = 0.0;
    for area in row {
        let long = area / depth;
        rects.push(if across {
            Rect { x: free.x, y: free.y + at, w: depth, h: long }
        } else {
            Rect { x: free.x + at, y: free.y, w: long, h: depth }
        });
        at += long;
    }
    if across {
        Rect { x: free.x + depth, w: (free.w - depth).max(0.0), ..free }
    } else {
        Rect { y: free.y + depth, h: (free.h - depth).max(0.0), ..free }
    }
}

impl Tile {
    fn new(area: &Area, Rect { x, y, w, h }: Rect) -> Self {
        let (mut lines, mut turned) = (label(area, w, h), false);
        let shown = |lines: &[Line]| lines.first().map_or(0, |name| width(&name.text));
        // A few characters in a narrow tile say less than a name from top to bottom.
        if h > w && shown(&lines) < width(&area.name).min(12) {
            let down = label(area, h, w);
            if shown(&down) > shown(&lines) {
                (lines, turned) = (down, true);
            }
        }
        let [x, y, w, h] = [x, y, w, h].map(rounded);
        let Area { name, href, class, size, share, tip, .. } = area.clone();
        Tile { x, y, w, h, href, class, tip, name, size, share, turned, lines }
    }
}

/// As many lines as there is room for, the name first; without a name there are none.
fn label(area: &Area, w: f64, h: f64) -> Vec<Line> {
    let room = w - 2.0 * PADDING;
    let name = fitting(&area.name, room / NAME);
    if name.is_empty() || h < LOW {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let mut push = |class, y: f64, text: String| {
        lines.push(Line { class, x: PADDING, y: rounded(y), text });
    };
    push("name", 19.0_f64.min(h / 2.0 + 4.5), name);
    let fits = |text: &String| float(width(text) as u64) * SIZE <= room;
    let sizes = [format!("{} · {}", area.size, area.share), area.size.clone()];
    let flag = if area.serious { "✗" } else { "!" };
    let flag = (!area.flag.is_empty()).then(|| format!("{flag} {}", area.flag));
    let class = if area.serious { "flag" } else { "flag mild" };
    if let Some(size) = sizes.into_iter().find(fits).filter(|_| h >= 42.0) {
        push("size", 36.0, size);
        if let Some(flag) = flag.filter(fits).filter(|_| h >= 59.0) {
            push(class, 53.0, flag);
        }
    }
    lines
}

/// As much of a name as fits, if that says something.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a few characters"
)]
fn fitting(name: &str, columns: f64) -> String {
    let columns = columns.max(0.0) as usize;
    let name = visible(name);
    if width(&name) > columns && columns < FEWEST { String::new() } else { cut(&name, columns) }
}

#[allow(clippy::cast_precision_loss, reason = "a pixel is coarser")]
fn float(number: u64) -> f64 {
    number as f64
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_rectangle_and_do_not_overlap() {
        let areas = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let rects = squarify(&areas, Rect { x: 0.0, y: 0.0, w: 6.0, h: 4.0 });
        for (rect, area) in rects.iter().zip(areas) {
            assert!((rect.w * rect.h - area).abs() < 1e-9, "{rect:?}");
            assert!(rect.x + rect.w <= 6.0 + 1e-9 && rect.y + rect.h <= 4.0 + 1e-9, "{rect:?}");
        }
        for (number, a) in rects.iter().enumerate() {
            for b in &rects[..number] {
                let apart = a.x >= b.x + b.w - 1e-9
                    || b.x >= a.x + a.w - 1e-9
                    || a.y >= b.y + b.h - 1e-9
                    || b.y >= a.y + a.h - 1e-9;
                assert!(apart, "{a:?} {b:?}");
            }
        }
        // The example of the paper: the first two stand above each other.
        assert!((rects[0].w - 3.0).abs() < 1e-9 && (rects[0].h - 2.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_has_no_area() {
        assert!(Treemap::new(&[], 10.0, 10.0).tiles.is_empty());
    }

    #[test]
    fn every_tile_with_room_has_a_label_and_no_label_is_longer_than_its_tile() {
        let area = |name: &str, bytes| Area { name: name.to_owned(), bytes, ..Area::default() };
        let narrow = Tile::new(&area("quota_used", 1), Rect { x: 0.0, y: 0.0, w: 30.0, h: 200.0 });
        assert!(narrow.turned && narrow.lines[0].text == "quota_used", "{narrow:?}");
        let low = Tile::new(&area("quota_used", 1), Rect { x: 0.0, y: 0.0, w: 200.0, h: 18.0 });
        assert!(!low.turned && low.lines[0].text == "quota_used", "{low:?}");
        let wide = Tile::new(&area("京都市:{id}", 1), Rect { x: 0.0, y: 0.0, w: 66.0, h: 60.0 });
        assert_eq!(wide.lines[0].text, "京都…", "its characters are twice as wide");
        let tiny = Tile::new(&area("quota_used", 1), Rect { x: 0.0, y: 0.0, w: 30.0, h: 40.0 });
        assert!(tiny.lines.is_empty(), "{tiny:?}");
    }
}
