//! Tables that would be wider than their terminal: lists of names are cut, other columns stay whole.

use super::{Cell, Table};

/// Blanks around the text of a column.
const PADDING: usize = 2;
/// A column that is cut keeps at least so many letters, or is left out.
const LEAST: usize = 8;
/// Stands for what is cut off.
const MORE: char = '…';

impl Table {
    /// The table in `width` columns, as far as cutting these columns allows, the last of them left out first; with the headings of those that
    /// are left out.
    pub(crate) fn fitted(mut self, width: usize, cut: &[&str]) -> (Self, Vec<String>) {
        let mut left_out = Vec::new();
        let mut cut = cut.to_vec();
        while let Some(last) = cut.last() {
            let (own, others): (Vec<usize>, Vec<usize>) =
                (0..self.columns.len()).partition(|index| cut.contains(&self.columns[*index].key.as_str()));
            let taken: usize = others.iter().map(|index| self.letters(*index) + PADDING).sum();
            // The blank behind the last column is not printed.
            let room = (width + 1).saturating_sub(taken + PADDING * own.len());
            if self.cut(&own, room) {
                break;
            }
            if let Some(index) = self.columns.iter().position(|column| column.key == *last) {
                left_out.push(self.columns.remove(index).heading);
                for row in &mut self.rows {
                    row.remove(index);
                }
            }
            cut.pop();
        }
        (self, left_out)
    }

    /// Letters of the widest cell of a column, its heading included.
    fn letters(&self, index: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[index].shown().chars().count());
        let heading = self.columns[index].heading.chars().count();
        cells.max().unwrap_or(0).max(heading)
    }

    /// Cuts columns until they take `room` letters together, the widest first; false where they cannot.
    fn cut(&mut self, columns: &[usize], room: usize) -> bool {
        let mut letters: Vec<usize> = columns.iter().map(|index| self.letters(*index)).collect();
        while letters.iter().sum::<usize>() > room {
            match letters.iter_mut().max() {
                Some(widest) if *widest > LEAST => *widest -= 1,
                _ => return false,
            }
        }
        for (index, most) in columns.iter().zip(letters) {
            for row in &mut self.rows {
                if let Cell::Text(text) = &mut row[*index]
                    && text.chars().count() > most
                {
                    *text = text.chars().take(most - 1).chain([MORE]).collect();
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new([("run", "run"), ("plans", "plans"), ("subjects", "subjects")]);
        table.push(vec![
            Cell::text("20261121T020757Z-profile"),
            Cell::text("ssd-access-size, ssd-queue-depth, fs-choice, kv-compression"),
            Cell::text("scratch-file 1GiB, a column of synthetic strings"),
        ]);
        table
    }

    #[test]
    fn a_list_is_cut_where_the_terminal_ends_and_names_of_runs_are_not() {
        for width in 48..130 {
            let (fitted, left_out) = table().fitted(width, &["plans", "subjects"]);
            let text = fitted.to_text();
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{width}: {text}"
            );
            assert!(text.contains("20261121T020757Z-profile"), "{text}");
            assert_eq!((text.contains('…'), left_out.len()), (true, 0), "{width}: {text}");
        }
        let (whole, _) = table().fitted(200, &["plans", "subjects"]);
        assert_eq!(whole.to_text(), table().to_text());
    }

    #[test]
    fn a_list_that_has_no_room_is_left_out_and_named() {
        let (fitted, left_out) = table().fitted(40, &["plans", "subjects"]);
        assert_eq!(left_out, ["subjects"]);
        assert!(fitted.to_text().contains("ssd-acce"), "{}", fitted.to_text());
    }
}
