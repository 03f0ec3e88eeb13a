//! All processes of a node: the one that was started, what it started in turn,
//! and what is left of its process group. A broker behind a shell script is
//! still the broker that a fault must reach.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// One process as its stat line shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    state: char,
    parent: i32,
    group: i32,
}

/// The living processes that descend from a process or are in the group that it leads, itself first.
pub fn family(leader: i32) -> Vec<i32> {
    of(leader, &processes(Path::new("/proc")))
}

fn of(leader: i32, processes: &BTreeMap<i32, Process>) -> Vec<i32> {
    let belongs = |pid: i32| {
        let mut at = pid;
        // A chain of parents is no longer than there are processes, even if it was read while it moved.
        for _ in 0..processes.len() {
            let Some(process) = processes.get(&at) else {
                return false;
            };
            if at == leader || process.group == leader {
                return true;
            }
            at = process.parent;
        }
        false
    };
    let lives = |process: &Process| !matches!(process.state, 'Z' | 'X');
    let living = processes.iter().filter(|(_, process)| lives(process));
    let mut family: Vec<i32> = living
        .map(|(pid, _)| *pid)
        .filter(|pid| belongs(*pid))
        .collect();
    family.sort_by_key(|pid| (*pid != leader, *pid));
    family
}

/// Processes that end while this reads are left out.
fn processes(proc: &Path) -> BTreeMap<i32, Process> {
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let numbered = entries.filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read(entry.path().join("stat")).ok()?;
        Some((pid, process(&String::from_utf8_lossy(&stat))?))
    });
    numbered.collect()
}

/// The name in a stat line may hold anything, also brackets.
fn process(stat: &str) -> Option<Process> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace();
    Some(Process {
        state: fields.next()?.chars().next()?,
        parent: fields.next()?.parse().ok()?,
        group: fields.next()?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_what_descends_and_what_is_in_the_group_but_not_the_dead() {
        let processes: BTreeMap<i32, Process> = [
            (1, "1 (init) S 0 1 1"),
            (10, "10 (sh) S 1 10 10"),
            (11, "11 (a) b)) R 10 10 10"),
            // Gone off into a session of its own, but still a child's child.
            (12, "12 (daemon) S 11 12 12"),
            // Its parent is gone, its group is not.
            (13, "13 (orphan) S 1 10 10"),
            (14, "14 (zombie) Z 10 10 10"),
            (20, "20 (other) S 1 20 20"),
        ]
        .into_iter()
        .map(|(pid, stat)| (pid, process(stat).expect("a stat line")))
        .collect();
        assert_eq!(of(10, &processes), [10, 11, 12, 13]);
        assert_eq!(of(12, &processes), [12]);
        assert!(of(99, &processes).is_empty());
    }
}
