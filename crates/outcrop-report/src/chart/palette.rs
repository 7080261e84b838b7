//! Colours of figures: safe for the common kinds of colour blindness, at least 4.5:1 against the page in
//! light and in dark.
//!
//! The SVG carries the light colours literally, so that every viewer shows them; style rules replace them by variables, which
//! are dark where a dark scheme is preferred.

/// A colour on a light page and its counterpart on a dark one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ink {
    /// The variable of the style sheet that holds it.
    pub(crate) name: &'static str,
    pub(crate) light: &'static str,
    pub(crate) dark: &'static str,
}

impl Ink {
    const fn new(name: &'static str, light: &'static str, dark: &'static str) -> Self {
        Self { name, light, dark }
    }
}

/// The page.
pub(crate) const PAGE: Ink = Ink::new("page", "#ffffff", "#14171b");

/// Text of axes, ticks and legends.
pub(crate) const TEXT: Ink = Ink::new("text", "#1f2328", "#e6e8eb");
/// Axis lines and tick marks.
pub(crate) const AXIS: Ink = Ink::new("axis", "#59626d", "#9aa4b0");
/// Grid lines: visible, never louder than data.
pub(crate) const GRID: Ink = Ink::new("grid", "#e3e6ea", "#30363e");

/// What is not a series: text, axes, grid and page.
pub(crate) const FRAME: [Ink; 4] = [TEXT, AXIS, GRID, PAGE];

/// How many series differ in colour.
pub(crate) const COLOURS: usize = SERIES.len();

/// Series, in the order in which they are given out. Derived from Okabe and Ito's palette, darkened for
/// contrast on white (and lightened on black).
pub(crate) const SERIES: [Ink; 8] = [
    Ink::new("c0", "#0065a8", "#5ab4f0"),
    Ink::new("c1", "#c14a00", "#ff9457"),
    Ink::new("c2", "#007f5c", "#3ecfa0"),
    Ink::new("c3", "#a0407f", "#eb9bcf"),
    Ink::new("c4", "#856404", "#e8bd4a"),
    Ink::new("c5", "#5b4fc4", "#b0a8ff"),
    Ink::new("c6", "#8c2f39", "#f08a94"),
    Ink::new("c7", "#4d6b1f", "#a9cf6a"),
];

/// The colours as variables of a style sheet, and rules that give them to drawings: light, and dark where the reader prefers
/// that on a screen. Paper is light.
pub(crate) fn css() -> String {
    let inks = || FRAME.into_iter().chain(SERIES);
    let variables = |shade: fn(Ink) -> &'static str| -> String {
        inks()
            .map(|ink| format!("--{}:{};", ink.name, shade(ink)))
            .collect()
    };
    let rules: String = inks()
        .map(|Ink { name, light, .. }| {
            format!(
                ".chart[fill=\"{light}\"],.chart [fill=\"{light}\"]{{fill:var(--{name})}}\
                 .chart [stroke=\"{light}\"]{{stroke:var(--{name})}}"
            )
        })
        .collect();
    format!(
        ":root{{{}}}@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}{rules}",
        variables(|ink| ink.light),
        variables(|ink| ink.dark)
    )
}

/// Red, green and blue of `#rrggbb`, which all inks are.
pub(crate) fn channels(text: &str) -> [u8; 3] {
    let channel = |from: usize| {
        text.get(from..from + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
    };
    [1, 3, 5].map(|from| channel(from).unwrap_or(0))
}
