//! Which of the user's columns are measured: all of a few, and of many as many of each table as there is time for.

/// Columns that one run takes: each makes several cells.
const MOST_COLUMNS: usize = 24;
/// Columns left out that are named.
const NAMED: usize = 6;

/// The table that a column of a folder is in; all columns of one table are in the same.
fn table_of(column: &str) -> &str {
    column.split_once('/').map_or("", |(table, _)| table)
}

/// Some names, and that there are more.
pub(super) fn named(names: &[String]) -> String {
    let more = if names.len() > NAMED { ", …" } else { "" };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

/// The columns that are measured, in their order, and what is said about it: how the table is read, columns beyond the
/// limit, columns of other kinds, and tables that cannot be read. Each table gives its first columns, in turn with the others.
pub(super) fn chosen(
    columns: Vec<String>,
    others: &[String],
    assumed: Option<String>,
    unread: &[String],
) -> (Vec<String>, Option<String>) {
    // How many columns of its table come before each.
    let mut before = std::collections::BTreeMap::new();
    let mut turns: Vec<(usize, usize)> = Vec::with_capacity(columns.len());
    for (number, column) in columns.iter().enumerate() {
        let turn = before.entry(table_of(column)).or_insert(0);
        turns.push((*turn, number));
        *turn += 1;
    }
    turns.sort_unstable();
    let mut is_taken = vec![false; columns.len()];
    for &(_, number) in turns.iter().take(MOST_COLUMNS) {
        is_taken[number] = true;
    }
    let (mut taken, mut rest) = (Vec::new(), Vec::new());
    for (column, is_taken) in columns.into_iter().zip(is_taken) {
        if is_taken {
            taken.push(column);
        } else {
            rest.push(column);
        }
    }
    let mut parts = Vec::new();
    parts.extend(assumed.map(|assumed| format!("assumes {assumed}")));
    if !rest.is_empty() {
        parts.push(format!(
            "takes {MOST_COLUMNS} of {} columns of text and dates and leaves out {}",
            taken.len() + rest.len(),
            named(&rest)
        ));
    }
    if !others.is_empty() {
        parts.push(format!(
            "leaves out columns that are neither text nor dates: {}",
            named(others)
        ));
    }
    if !unread.is_empty() {
        parts.push(format!("leaves out what it cannot read: {}", unread.join("; ")));
    }
    (taken, (!parts.is_empty()).then(|| parts.join(", and ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_columns_are_all_taken_and_of_many_each_table_gives_its_first() {
        let few = vec!["a.csv/x".to_owned(), "b.csv/y".to_owned()];
        assert_eq!(chosen(few.clone(), &[], None, &[]), (few, None));
        let wide = (0..40).map(|number| format!("wide.csv/{number}"));
        let many: Vec<String> = wide
            .chain(["small.csv/a".to_owned(), "small.csv/b".to_owned()])
            .collect();
        let (taken, left_out) = chosen(
            many,
            &["id (Int64)".to_owned()],
            Some("delimiter '|', no header, 9 columns".to_owned()),
            &["c.csv: empty".to_owned()],
        );
        let expected: Vec<String> = (0..22)
            .map(|number| format!("wide.csv/{number}"))
            .chain(["small.csv/a".to_owned(), "small.csv/b".to_owned()])
            .collect();
        assert_eq!(taken, expected);
        assert_eq!(
            left_out.as_deref(),
            Some(
                "assumes delimiter '|', no header, 9 columns, and takes 24 of 42 columns of text and dates and leaves out \
                 wide.csv/22, wide.csv/23, wide.csv/24, wide.csv/25, wide.csv/26, wide.csv/27, …, and leaves out columns \
                 that are neither text nor dates: id (Int64), and leaves out what it cannot read: c.csv: empty"
            )
        );
    }
}
