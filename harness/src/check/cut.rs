//! Whether a stored history was cut short, as a run that was killed leaves it
//! or a copy that broke off. What is there is judged all the same, but whoever
//! reads the verdict must know.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

const ZSTD_MAGIC: u32 = 0xfd2f_b528;
/// Frames that hold no data have sixteen magic numbers.
const SKIPPABLE: std::ops::RangeInclusive<u32> = 0x184d_2a50..=0x184d_2a5f;

/// A sentence where a file ends in the middle of something.
pub(super) fn note(path: &Path) -> Option<String> {
    let file = File::open(path).ok()?;
    let length = file
        .metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)?
        .len();
    let shown = path.display();
    if length == 0 {
        return Some(format!("{shown} is empty"));
    }
    let mut file = BufReader::new(file);
    let packed = u32_of(&mut file).is_ok_and(|magic| magic == ZSTD_MAGIC);
    file.rewind().ok()?;
    let whole = match packed {
        true => frames_are_whole(&mut file, length),
        // Other formats need no newline at their ends.
        false if path.extension().is_none_or(|name| name != "jsonl") => return None,
        false => ends_with_a_line(&mut file),
    };
    match whole {
        Ok(true) => None,
        _ if packed => Some(format!(
            "{shown} is cut: it ends within compressed data, and what followed is not judged"
        )),
        _ => Some(format!(
            "{shown} ends within a line, which is left out if it is torn"
        )),
    }
}

fn ends_with_a_line(file: &mut (impl Read + Seek)) -> io::Result<bool> {
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

fn u32_of(file: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Steps from block to block (RFC 8878, section 3.1) without decompressing any.
fn frames_are_whole(file: &mut BufReader<File>, length: u64) -> io::Result<bool> {
    let mut at = 0;
    while at < length {
        file.seek(SeekFrom::Start(at))?;
        let magic = u32_of(file)?;
        if SKIPPABLE.contains(&magic) {
            at += 8 + u64::from(u32_of(file)?);
            continue;
        }
        if magic != ZSTD_MAGIC {
            return Ok(false);
        }
        let mut descriptor = [0];
        file.read_exact(&mut descriptor)?;
        at += 5 + header_bytes(descriptor[0]);
        loop {
            file.seek(SeekFrom::Start(at))?;
            let mut header = [0; 4];
            file.read_exact(&mut header[..3])?;
            let header = u32::from_le_bytes(header);
            let (last, kind, size) = (header & 1 == 1, header >> 1 & 3, header >> 3);
            // A run of one byte is stored as that byte.
            at += 3 + if kind == 1 { 1 } else { u64::from(size) };
            if last {
                break;
            }
        }
        let has_checksum = descriptor[0] & 4 != 0;
        at += if has_checksum { 4 } else { 0 };
    }
    Ok(at == length)
}

/// Bytes of a frame's header after its descriptor.
fn header_bytes(descriptor: u8) -> u64 {
    let single_segment = descriptor & 0x20 != 0;
    let window = u64::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content_size = match descriptor >> 6 {
        0 => u64::from(single_segment),
        flag => 1 << flag,
    };
    window + dictionary + content_size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(bytes: &[u8]) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("history.jsonl");
        std::fs::write(&path, bytes).expect("room");
        note(&path)
    }

    #[test]
    fn a_compressed_file_that_lacks_a_byte_is_cut_and_a_whole_one_is_not() {
        let text: Vec<u8> = (0..300_000_u32).flat_map(u32::to_le_bytes).collect();
        for (text, checksum) in [
            (&text[..], true),
            (&text[..], false),
            (&b"short\n"[..], true),
        ] {
            let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).expect("zstd");
            encoder.include_checksum(checksum).expect("zstd");
            io::Write::write_all(&mut encoder, text).expect("zstd");
            let packed = encoder.finish().expect("zstd");
            assert_eq!(noted(&packed), None);
            assert_eq!(noted(&[packed.clone(), packed.clone()].concat()), None);
            for cut in [1, 5, packed.len() / 2] {
                let said = noted(&packed[..packed.len() - cut]).expect("cut");
                assert!(said.contains("is cut"), "{said}");
            }
        }
        assert_eq!(noted(&zstd::encode_all(&b"x"[..], 3).expect("zstd")), None);
        assert_eq!(noted(&zstd::bulk::compress(&text, 3).expect("zstd")), None);
    }

    #[test]
    fn a_plain_file_ends_with_a_line() {
        assert_eq!(noted(b"{}\n"), None);
        assert!(noted(b"{}\n{").expect("torn").contains("within a line"));
        assert!(noted(b"").expect("empty").contains("is empty"));
    }
}
