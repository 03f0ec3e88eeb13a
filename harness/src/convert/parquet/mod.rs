//! A history as a Parquet table for DuckDB, pandas and the like: a row for each line, in groups
//! of a bounded size, so that memory does not grow with the history.
//!
//! What a query asks for most stands in columns of its own; `value`, `reads`, `attempts` and
//! `extra` hold the rest as JSON, so that nothing is lost. The header is the file's metadata
//! `plimsoll.header`.

mod columns;
mod rows;

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use plimsoll_checkers::history::History;

use rows::Rows;

/// A group is written when it has so many rows or so many bytes of text.
const GROUP_ROWS: usize = 1 << 16;
const GROUP_BYTES: usize = 32 << 20;
/// The metadata key of the history's header.
const HEADER_KEY: &str = "plimsoll.header";

/// Columns in the order in which [`Rows`] writes them; docs/HISTORY.md says what they mean.
const SCHEMA: &str = "message op {
  REQUIRED INT64 index;
  REQUIRED INT64 time_ns;
  OPTIONAL INT64 process;
  REQUIRED BYTE_ARRAY type (UTF8);
  REQUIRED BYTE_ARRAY f (UTF8);
  OPTIONAL BYTE_ARRAY key (UTF8);
  OPTIONAL INT64 offset;
  OPTIONAL INT64 sent;
  OPTIONAL BYTE_ARRAY value (UTF8);
  OPTIONAL GROUP records (LIST) {
    REPEATED GROUP list {
      REQUIRED GROUP element {
        REQUIRED BYTE_ARRAY mop (UTF8);
        REQUIRED BYTE_ARRAY key (UTF8);
        OPTIONAL INT64 offset;
        OPTIONAL INT64 value;
      }
    }
  }
  OPTIONAL BYTE_ARRAY outcome (UTF8);
  OPTIONAL INT64 duration_ns;
  OPTIONAL INT64 other_index;
  OPTIONAL BYTE_ARRAY error (UTF8);
  OPTIONAL BYTE_ARRAY node (UTF8);
  OPTIONAL BYTE_ARRAY client (UTF8);
  OPTIONAL INT32 acks (INT_16);
  OPTIONAL BYTE_ARRAY reads (UTF8);
  OPTIONAL BYTE_ARRAY attempts (UTF8);
  OPTIONAL BYTE_ARRAY extra (UTF8);
}";

/// Writes the whole table.
pub(super) fn write(history: &History, out: impl Write + Send) -> io::Result<()> {
    let schema = parse_message_type(SCHEMA).map_err(failed)?;
    let properties = properties(history)?;
    let mut file =
        SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(failed)?;
    let mut rows = Rows::default();
    for position in 0..history.ops().len() {
        rows.push(history, position)?;
        if rows.len() == GROUP_ROWS || rows.text_bytes() >= GROUP_BYTES {
            write_group(&mut file, &mut rows).map_err(failed)?;
        }
    }
    if rows.len() > 0 {
        write_group(&mut file, &mut rows).map_err(failed)?;
    }
    file.close().map_err(failed)?;
    Ok(())
}

fn properties(history: &History) -> io::Result<WriterProperties> {
    let header = history.header().map(serde_json::to_string).transpose()?;
    let metadata = header.map(|header| vec![KeyValue::new(HEADER_KEY.to_owned(), header)]);
    Ok(WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(concat!("plimsoll ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(metadata)
        .build())
}

fn write_group<W: Write + Send>(
    file: &mut SerializedFileWriter<W>,
    rows: &mut Rows,
) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    std::mem::take(rows).write(&mut group)?;
    group.close()?;
    Ok(())
}

/// The disk's own error where there was one, so that "no space left" is told as such.
fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}
