//! Colours of figures: safe for the common kinds of colour blindness, at least 4.5:1 against the page in
//! light and in dark.
//!
//! The SVG carries the light colours literally, so that every viewer shows them; style rules replace them
//! where a dark scheme is preferred.

/// A colour on a light page and its counterpart on a dark one.
pub(super) struct Ink {
    pub(super) light: &'static str,
    pub(super) dark: &'static str,
}

/// Text of axes, ticks and legends.
pub(super) const TEXT: Ink = Ink {
    light: "#1f2328",
    dark: "#e6e8eb",
};
/// Axis lines and tick marks.
pub(super) const AXIS: Ink = Ink {
    light: "#59626d",
    dark: "#9aa4b0",
};
/// Grid lines: visible, never louder than data.
pub(super) const GRID: Ink = Ink {
    light: "#e3e6ea",
    dark: "#30363e",
};

/// How many series differ in colour.
pub(crate) const COLOURS: usize = SERIES.len();

/// Series, in the order in which they are given out. Derived from Okabe and Ito's palette, darkened for
/// contrast on white (and lightened on black).
pub(super) const SERIES: [Ink; 8] = [
    Ink {
        light: "#0065a8",
        dark: "#5ab4f0",
    },
    Ink {
        light: "#c14a00",
        dark: "#ff9457",
    },
    Ink {
        light: "#007f5c",
        dark: "#3ecfa0",
    },
    Ink {
        light: "#a0407f",
        dark: "#eb9bcf",
    },
    Ink {
        light: "#856404",
        dark: "#e8bd4a",
    },
    Ink {
        light: "#5b4fc4",
        dark: "#b0a8ff",
    },
    Ink {
        light: "#8c2f39",
        dark: "#f08a94",
    },
    Ink {
        light: "#4d6b1f",
        dark: "#a9cf6a",
    },
];

/// Rules that recolour the charts of a page where the reader prefers a dark scheme.
pub(crate) fn dark_mode_css() -> String {
    let rules: String = [TEXT, AXIS, GRID]
        .iter()
        .chain(&SERIES)
        .map(|ink| {
            let Ink { light, dark } = ink;
            format!(
                "svg.chart[fill=\"{light}\"],svg.chart [fill=\"{light}\"]{{fill:{dark}}}\
                 svg.chart [stroke=\"{light}\"]{{stroke:{dark}}}"
            )
        })
        .collect();
    format!("@media screen and (prefers-color-scheme:dark){{{rules}}}")
}

/// Rules for a figure in a file of its own, which also brings its page along.
pub(super) fn standalone_css() -> String {
    format!(
        "svg.chart{{background:#fff}}@media screen and (prefers-color-scheme:dark){{svg.chart{{background:#14171b}}}}{}",
        dark_mode_css()
    )
}
