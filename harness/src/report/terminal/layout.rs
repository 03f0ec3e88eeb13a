//! Paragraphs and tables that fit the terminal.
//!
//! Tables are wrapped here, at words, before they are drawn: no line of a field begins or ends with the
//! space at which it was broken.

use tabled::Table;
use tabled::builder::Builder;

/// Width of everything that is printed.
const COLUMNS: usize = 96;

/// A narrower column than this breaks more words than it saves room.
const NARROWEST: usize = 8;

/// A table whose widest columns are wrapped until it fits.
pub(in crate::report) fn fitted(rows: &[Vec<String>]) -> Table {
    let widths = widths(rows);
    let mut table = Builder::default();
    for row in rows {
        let fields = row.iter().zip(&widths);
        table.push_record(fields.map(|(field, width)| lines(field, *width).join("\n")));
    }
    table.build()
}

fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| {
        let fields = rows.iter().filter_map(|row| row.get(column));
        let widths = fields.flat_map(|field| field.lines().map(|line| line.chars().count()));
        widths.max().unwrap_or(0)
    };
    let mut widths: Vec<usize> = (0..columns).map(widest).collect();
    // A space on both sides of each field, and a border around.
    let room = COLUMNS.saturating_sub(3 * columns + 1);
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max_by_key(|width| **width);
        match widest.filter(|width| **width > NARROWEST) {
            Some(width) => *width -= 1,
            None => break,
        }
    }
    widths
}

/// A text in lines of at most `width`, broken at spaces, and within a word only where it has to be.
fn lines(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let used = line.chars().count();
            if used > 0 && used + 1 + word.chars().count() > width {
                lines.push(std::mem::take(&mut line));
            } else if used > 0 {
                line.push(' ');
            }
            for letter in word.chars() {
                if line.chars().count() == width {
                    lines.push(std::mem::take(&mut line));
                }
                line.push(letter);
            }
        }
        lines.push(line);
    }
    lines
}

/// Breaks a paragraph at spaces so that it fits the terminal.
pub(in crate::report) fn wrapped(paragraph: &str, indent: &str) -> String {
    let mut text = String::new();
    let mut line = String::from(indent);
    for word in paragraph.split_whitespace() {
        let used = line.chars().count();
        if used > indent.len() && used + 1 + word.chars().count() > COLUMNS {
            text.push_str(line.trim_end());
            text.push('\n');
            line = format!("{indent}  ");
        } else if used > indent.len() {
            line.push(' ');
        }
        line.push_str(word);
    }
    text.push_str(line.trim_end());
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use tabled::settings::Style;

    use super::*;

    #[test]
    fn a_field_is_broken_at_words_and_no_line_begins_with_a_space() {
        // The first line is exactly full.
        assert_eq!(
            lines("everywhere 2.2 s, n1 2.2 s", 20),
            ["everywhere 2.2 s, n1", "2.2 s"]
        );
        assert_eq!(
            lines("a-word-too-long for it", 6),
            ["a-word", "-too-l", "ong", "for it"]
        );
        assert_eq!(lines("", 5), Vec::<String>::new());
        for width in 1..60 {
            for line in lines("some words of which one is considerable, and so on", width) {
                assert!(
                    line.chars().count() <= width && line.trim() == line,
                    "{line:?}"
                );
            }
        }
    }

    #[test]
    fn a_table_takes_from_its_widest_columns_until_it_fits() {
        let rows = vec![vec![
            "n".to_owned(),
            "word ".repeat(30),
            "few words".to_owned(),
        ]];
        let text = fitted(&rows).with(Style::rounded()).to_string();
        assert!(
            text.lines().all(|line| line.chars().count() <= COLUMNS),
            "{text}"
        );
        assert!(text.contains("few words"), "{text}");
    }
}
