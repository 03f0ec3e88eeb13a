//! One column of a row group in memory: values without gaps, and levels that say where the gaps
//! are and where lists begin.

use std::io::Write;

use parquet::data_type::DataType;
use parquet::errors::{ParquetError, Result};
use parquet::file::writer::SerializedRowGroupWriter;

/// Levels stay empty for a column that has a value in each row.
#[derive(Debug)]
pub(super) struct Column<T> {
    values: Vec<T>,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            definitions: Vec::new(),
            repetitions: Vec::new(),
        }
    }
}

impl<T> Column<T> {
    /// A value of a column that has one in each row.
    pub(super) fn push(&mut self, value: T) {
        self.values.push(value);
    }

    /// A value that may be missing.
    pub(super) fn push_optional(&mut self, value: Option<T>) {
        self.definitions.push(i16::from(value.is_some()));
        self.values.extend(value);
    }

    /// An entry of a list, or what stands for a list without entries: how much of the path to the
    /// value is there, and whether the entry begins a row (0) or goes on with it (1).
    pub(super) fn push_entry(&mut self, value: Option<T>, definition: i16, repetition: i16) {
        self.definitions.push(definition);
        self.repetitions.push(repetition);
        self.values.extend(value);
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Writes itself as the group's next column.
    pub(super) fn write<D, W>(self, group: &mut SerializedRowGroupWriter<'_, W>) -> Result<()>
    where
        D: DataType<T = T>,
        W: Write + Send,
    {
        let Some(mut column) = group.next_column()? else {
            return Err(ParquetError::General("a column without a place".to_owned()));
        };
        column.typed::<D>().write_batch(
            &self.values,
            present(&self.definitions),
            present(&self.repetitions),
        )?;
        column.close()
    }
}

fn present(levels: &[i16]) -> Option<&[i16]> {
    (!levels.is_empty()).then_some(levels)
}
