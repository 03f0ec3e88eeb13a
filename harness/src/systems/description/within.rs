//! A path that stays within a node's own folder, so that a run neither writes
//! over what is elsewhere nor finds what an earlier run left there.

use std::path::{Component, Path};

/// Why `path` does not name something within the folder that it is relative to.
pub fn within(path: &str) -> Result<(), String> {
    let why = |why: &str| {
        Err(format!(
            "\"{}\" {why}; it is within the node's own folder: relative, and without \"..\"",
            path.escape_debug()
        ))
    };
    if path.contains('\0') {
        return why("has a NUL in it");
    }
    let mut named = false;
    for part in Path::new(path).components() {
        match part {
            Component::Normal(_) => named = true,
            Component::CurDir => {}
            Component::ParentDir => return why("leads out"),
            Component::RootDir | Component::Prefix(_) => return why("is absolute"),
        }
    }
    if named { Ok(()) } else { why("names nothing") }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn only_what_is_named_below_the_folder_is_within_it() {
        for inside in ["data", "./data", "a/b.conf", "..data", "a//b"] {
            assert_eq!(within(inside), Ok(()), "{inside}");
        }
        for outside in ["", ".", "./", "..", "a/../../b", "/data", "a\0b"] {
            assert!(within(outside).is_err(), "{outside:?}");
        }
    }
}
