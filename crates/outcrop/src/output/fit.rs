//! Tables that would be wider than their terminal: lists of names are cut, other columns stay whole.

use super::{Cell, Table};

/// Blanks around the text of a column.
const PADDING: usize = 2;
/// Letters that a column keeps when it is cut.
const LEAST: usize = 8;
/// Stands for what is cut off.
const MORE: char = '…';

impl Table {
    /// The table in `width` columns: those of `cut` are cut, and where that does not do, those of `least` are left out, one after the other;
    /// with the headings of these.
    pub(crate) fn fitted(mut self, width: usize, cut: &[&str], least: &[&str]) -> (Self, Vec<String>) {
        let mut left_out = Vec::new();
        let mut least = least.iter();
        while !self.cut_to(width, cut) {
            let Some(key) = least.next() else { break };
            if let Some(index) = self.columns.iter().position(|column| column.key == *key) {
                left_out.push(self.columns.remove(index).heading);
                for row in &mut self.rows {
                    row.remove(index);
                }
            }
        }
        (self, left_out)
    }

    /// Cuts these columns so that the table takes `width`; false where it cannot.
    fn cut_to(&mut self, width: usize, cut: &[&str]) -> bool {
        let (own, others): (Vec<usize>, Vec<usize>) =
            (0..self.columns.len()).partition(|index| cut.contains(&self.columns[*index].key.as_str()));
        let taken: usize = others.iter().map(|index| self.letters(*index) + PADDING).sum();
        // The blank behind the last column is not printed.
        let room = (width + 1).checked_sub(taken + PADDING * own.len());
        room.is_some_and(|room| self.cut(&own, room))
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

    const CUT: [&str; 2] = ["plans", "subjects"];
    const LEAST_OF_ALL: [&str; 2] = ["subjects", "plans"];

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
            let (fitted, left_out) = table().fitted(width, &CUT, &LEAST_OF_ALL);
            let text = fitted.to_text();
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{width}: {text}"
            );
            assert!(text.contains("20261121T020757Z-profile"), "{text}");
            assert_eq!((text.contains('…'), left_out.len()), (true, 0), "{width}: {text}");
        }
        let (whole, _) = table().fitted(200, &CUT, &LEAST_OF_ALL);
        assert_eq!(whole.to_text(), table().to_text());
    }

    #[test]
    fn a_list_that_has_no_room_is_left_out_and_named() {
        let (fitted, left_out) = table().fitted(40, &CUT, &LEAST_OF_ALL);
        assert_eq!(left_out, ["subjects"]);
        assert!(fitted.to_text().contains("ssd-acce"), "{}", fitted.to_text());
    }
}
