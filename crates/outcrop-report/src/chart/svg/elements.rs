//! Elements of a drawing on their way into a page: those of the same attributes are written once, as one path or one group, wherever
//! nothing that lies between them in the drawing covers their place.

use std::fmt::Write as _;

/// Left, top, right and bottom of what an element covers, in pixels.
pub(super) type Extent = (f64, f64, f64, f64);

/// What to write, from the lowest to the highest.
#[derive(Default)]
pub(super) struct Elements(Vec<Element>);

struct Element {
    attributes: String,
    extents: Vec<Extent>,
    content: Content,
}

enum Content {
    Path(super::Outline),
    /// Openings of elements without the attributes, and what follows them.
    Group(Vec<(String, String)>),
}

impl Elements {
    pub(super) fn add_path(
        &mut self,
        attributes: String,
        extent: Extent,
        draw: impl FnOnce(&mut super::Outline),
    ) {
        let is_alike =
            |one: &Element| one.attributes == attributes && matches!(one.content, Content::Path(_));
        let place = self.place(extent, is_alike);
        let element = match place {
            Some(place) => &mut self.0[place],
            None => self.push(attributes, Content::Path(super::Outline::default())),
        };
        element.extents.push(extent);
        if let Content::Path(outline) = &mut element.content {
            draw(outline);
        }
    }

    pub(super) fn add(&mut self, attributes: String, extent: Extent, opening: String, rest: String) {
        let is_alike =
            |one: &Element| one.attributes == attributes && matches!(one.content, Content::Group(_));
        let place = self.place(extent, is_alike);
        let element = match place {
            Some(place) => &mut self.0[place],
            None => self.push(attributes, Content::Group(Vec::new())),
        };
        element.extents.push(extent);
        if let Content::Group(elements) = &mut element.content {
            elements.push((opening, rest));
        }
    }

    /// The element that a new one can be part of: the highest that is alike, if nothing above it covers the new one's place.
    fn place(&self, extent: Extent, is_alike: impl Fn(&Element) -> bool) -> Option<usize> {
        for (place, element) in self.0.iter().enumerate().rev() {
            if is_alike(element) {
                return Some(place);
            }
            if element.extents.iter().any(|other| overlap(*other, extent)) {
                return None;
            }
        }
        None
    }

    fn push(&mut self, attributes: String, content: Content) -> &mut Element {
        let place = self.0.len();
        self.0.push(Element {
            attributes,
            extents: Vec::new(),
            content,
        });
        &mut self.0[place]
    }

    /// Writes all of them, and forgets them.
    pub(super) fn write(&mut self, svg: &mut String) {
        for element in self.0.drain(..) {
            let attributes = element.attributes;
            match element.content {
                Content::Path(outline) => {
                    let _ = write!(svg, "<path d=\"{}\"{attributes}/>", outline.text);
                }
                Content::Group(elements) if elements.len() > 1 && !attributes.is_empty() => {
                    let _ = write!(svg, "<g{attributes}>");
                    elements.iter().for_each(|(opening, rest)| {
                        svg.push_str(opening);
                        svg.push_str(rest);
                    });
                    svg.push_str("</g>");
                }
                Content::Group(elements) => {
                    for (opening, rest) in elements {
                        let _ = write!(svg, "{opening}{attributes}{rest}");
                    }
                }
            }
        }
    }
}

fn overlap(one: Extent, other: Extent) -> bool {
    one.0 < other.2 && other.0 < one.2 && one.1 < other.3 && other.1 < one.3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a rectangle of a paint from one place to another.
    fn add(elements: &mut Elements, paint: &str, from: f64, to: f64) {
        let attributes = format!(" fill=\"{paint}\"");
        elements.add(
            attributes,
            (from, 0.0, to, 1.0),
            format!("<{from}"),
            "/>".to_owned(),
        );
    }

    #[test]
    fn what_is_alike_is_written_once_unless_something_would_come_to_lie_above_it() {
        let written = |shapes: &[(&str, f64, f64)]| {
            let mut elements = Elements::default();
            shapes
                .iter()
                .for_each(|(paint, from, to)| add(&mut elements, paint, *from, *to));
            let mut svg = String::new();
            elements.write(&mut svg);
            svg
        };
        let apart = written(&[("red", 0.0, 1.0), ("blue", 0.5, 1.0), ("red", 2.0, 3.0)]);
        assert_eq!(apart, "<g fill=\"red\"><0/><2/></g><0.5 fill=\"blue\"/>");
        let covered = written(&[("red", 0.0, 1.0), ("blue", 0.5, 2.5), ("red", 2.0, 3.0)]);
        assert_eq!(covered, "<0 fill=\"red\"/><0.5 fill=\"blue\"/><2 fill=\"red\"/>");
    }
}
