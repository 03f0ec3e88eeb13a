//! The state of every task of a process, as /proc tells it.

use std::fs;
use std::io;

/// The states of all tasks of a process, one letter each.
pub fn task_states(pid: i32) -> io::Result<Vec<char>> {
    let mut states = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        match fs::read_to_string(task?.path().join("stat")) {
            Ok(stat) => states.extend(state_of(&stat)),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
    }
    Ok(states)
}

/// The name in a stat line may hold anything, also brackets: the state is what
/// follows the last closing one.
fn state_of(stat: &str) -> Option<char> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_hide_the_state() {
        assert_eq!(state_of("12 (a) T (b)) S 1 2"), Some('S'));
        assert_eq!(state_of("nonsense"), None);
    }
}
