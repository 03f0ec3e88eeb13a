//! Scenes of small histories: who is shown, and who is not.

use plimsoll_checkers::formats;
use plimsoll_checkers::history::History;

use super::*;

fn history(lines: &[String]) -> History {
    formats::read(lines.concat().as_bytes()).expect("a history")
}

/// A write by a process from one moment to another.
fn write(process: u64, value: u64, from: u64, to: u64) -> [(u64, String); 2] {
    let line = |time: u64, kind: &str| {
        format!(
            "{{\"process\":{process},\"type\":\"{kind}\",\"f\":\"write\",\"value\":{value},\"time\":{time}}}\n"
        )
    };
    [(from, line(from, "invoke")), (to, line(to, "ok"))]
}

fn by_time(mut lines: Vec<(u64, String)>) -> Vec<String> {
    lines.sort();
    lines.into_iter().map(|(_, line)| line).collect()
}

#[test]
fn neighbours_are_few_whatever_the_length_of_the_history() {
    let many = (0..5_000).flat_map(|n| write(n % 40, n, n * 10 + 1, n * 10 + 300));
    let history = history(&by_time(many.collect()));
    let scene = Scene::new(&history, &[], &[4_000, 9_000], Focus::default()).expect("a scene");
    let bars: usize = scene.lanes.iter().map(|lane| lane.bars.len()).sum();
    assert!((10..=26).contains(&bars), "{bars} bars");
    assert!(scene.lanes.len() <= 14);
    assert!(scene.lanes[0].has_witness() && scene.lanes[1].has_witness());
    assert_eq!(scene.axis.stretches.len(), 2);
}

#[test]
fn a_long_neighbour_does_not_squeeze_the_witness() {
    let ops = [
        write(1, 1, 1, 1_000_000),
        write(2, 2, 500_000, 500_010),
        write(3, 3, 500_020, 500_030),
    ];
    let history = history(&by_time(ops.concat()));
    let scene = Scene::new(&history, &[], &[2], Focus::default()).expect("a scene");
    let stretch = scene.axis.stretches[0];
    assert!(stretch.to - stretch.from < 100.0, "{stretch:?}");
    assert_eq!(scene.lanes.len(), 3);
}

#[test]
fn without_times_the_order_is_the_axis() {
    let ops = [write(1, 1, 0, 0), write(2, 2, 0, 0)];
    let history = history(
        &ops.concat()
            .into_iter()
            .map(|one| one.1)
            .collect::<Vec<_>>(),
    );
    let scene = Scene::new(&history, &[], &[1, 3], Focus::default()).expect("a scene");
    assert_eq!(scene.clock, Clock::Order);
    assert!(scene.place(3) - scene.place(0) > 50.0);
}

#[test]
fn invoke_and_completion_are_one_bar_and_two_rows() {
    let history = history(&by_time(write(1, 1, 1, 5).to_vec()));
    let scene = Scene::new(&history, &[], &[0, 1, 1, 77], Focus::default()).expect("a scene");
    assert_eq!(scene.witnesses, [(0, 1), (1, 1)]);
    assert_eq!(scene.lanes[0].bars.len(), 1);
    assert!(Scene::new(&history, &[], &[77], Focus::default()).is_none());
}

#[test]
fn who_put_an_element_in_is_shown_however_long_ago() {
    let many = (0..4_000).flat_map(|n| write(n % 40, n, n * 10 + 1, n * 10 + 300));
    let mut lines: Vec<(u64, String)> = many.collect();
    lines.extend(write(77, 12, 50_000, 50_001));
    let history = history(&by_time(lines));
    let last = history.ops().last().expect("an op").index;
    let scene = Scene::new(&history, &[], &[last], Focus::default()).expect("a scene");
    let bars = scene.lanes.iter().flat_map(|lane| &lane.bars);
    let mut invokes = bars.map(|bar| bar.span.invoke(&history));
    assert!(invokes.any(|op| op.time == 121), "{:?}", scene.lanes);
}
