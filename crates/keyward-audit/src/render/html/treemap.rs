//! Memory as areas: a squarified treemap (Bruls, Huizing, van Wijk 2000), laid out here, so that it is
//! there without a script.

use serde::Serialize;

/// What an area stands for.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) href: String,
    /// The colour's name
    pub(super) class: String,
    pub(super) keys: u64,
    pub(super) bytes: u64,
    /// `208.0 MiB`
    pub(super) size: String,
    /// `28.6 %`
    pub(super) share: String,
    /// All that there is to say
    pub(super) tip: String,
    /// `1 error`
    pub(super) flag: String,
    pub(super) serious: bool,
}

/// Areas that fill a rectangle.
#[derive(Debug, Serialize)]
pub(super) struct Treemap {
    width: f64,
    height: f64,
    tiles: Vec<Tile>,
}

#[derive(Debug, Serialize)]
struct Tile {
    x: f64,
    y: f64,
    w: f64,
    h: f64,
    href: String,
    class: String,
    tip: String,
    /// Lines that fit, each with its class and its y
    lines: Vec<Line>,
}

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

/// The columns of a character in the three sizes of text, generously.
const NAME: f64 = 8.0;
const SIZE: f64 = 6.9;
const PADDING: f64 = 8.0;

impl Treemap {
    /// The parts in a rectangle; they have bytes, and those with the most come first.
    pub(super) fn new(parts: &[Part], width: f64, height: f64) -> Self {
        let all: f64 = parts.iter().map(|part| float(part.bytes)).sum();
        let areas: Vec<f64> =
            parts.iter().map(|part| float(part.bytes) / all * width * height).collect();
        let rects = squarify(&areas, Rect { x: 0.0, y: 0.0, w: width, h: height });
        let tiles = parts.iter().zip(rects).map(|(part, rect)| tile(part, rect)).collect();
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

fn tile(part: &Part, rect: Rect) -> Tile {
    let Rect { x, y, w, h } = rect;
    Tile {
        x: rounded(x),
        y: rounded(y),
        w: rounded(w),
        h: rounded(h),
        href: part.href.clone(),
        class: part.class.clone(),
        tip: part.tip.clone(),
        lines: lines(part, rect),
    }
}

/// As many lines as the tile has room for, from the most telling on.
fn lines(part: &Part, Rect { x, y, w, h }: Rect) -> Vec<Line> {
    let room = w - 2.0 * PADDING;
    let mut lines = Vec::new();
    let mut push = |class, below: f64, text: String| {
        if h >= below + 6.0 && !text.is_empty() {
            lines.push(Line { class, x: rounded(x + PADDING), y: rounded(y + below), text });
        }
    };
    push("name", 19.0, fitting(&part.name, room / NAME));
    let both = format!("{} · {}", part.size, part.share);
    let chars = float(both.chars().count() as u64);
    let size = if chars * SIZE <= room { both } else { part.size.clone() };
    let fits = float(size.chars().count() as u64) * SIZE <= room;
    push("size", 36.0, if fits { size } else { String::new() });
    let fits = float(part.flag.chars().count() as u64 + 2) * SIZE <= room;
    let (mark, class) = if part.serious { ("✗", "flag") } else { ("!", "flag mild") };
    let flag =
        if fits && !part.flag.is_empty() { format!("{mark} {}", part.flag) } else { String::new() };
    push(class, 53.0, flag);
    lines
}

/// As much of a name as fits, if that says something.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is a few characters"
)]
fn fitting(name: &str, chars: f64) -> String {
    let chars = chars.max(0.0) as usize;
    if name.chars().count() <= chars {
        return name.to_owned();
    }
    if chars < 6 {
        return String::new();
    }
    name.chars().take(chars - 1).chain(['…']).collect()
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
}
