//! The table of promises, row by row.

use plimsoll_checkers::promise::{Acks, FaultClasses, Flush, Promise, Scope, Settings};

const KILLS: FaultClasses = FaultClasses {
    process: true,
    disk: false,
};
const DISKS: FaultClasses = FaultClasses {
    process: true,
    disk: true,
};

fn settings(acks: Acks, min_insync: u16, unclean: bool) -> Settings {
    Settings {
        acks,
        min_insync,
        replication_factor: 3,
        unclean_elections: unclean,
        flush: Flush::Never,
        elr: false,
        idempotent: false,
        retries: 0,
    }
}

fn permitted(settings: &Settings, classes: FaultClasses) -> Vec<String> {
    let promise = Promise::resolve(settings, classes, false);
    promise
        .permitted
        .into_iter()
        .filter(|price| price.scope != Scope::Subscribed)
        .map(|price| price.anomaly)
        .collect()
}

#[test]
fn acks_all_with_clean_elections_loses_nothing_to_kills() {
    for min_insync in [1, 2] {
        let settings = settings(Acks::All, min_insync, false);
        assert!(permitted(&settings, KILLS).is_empty());
    }
}

#[test]
fn acks_all_may_lose_acked_and_consumed_records_to_disk_faults() {
    let seen = permitted(&settings(Acks::All, 2, false), DISKS);
    assert!(seen.contains(&"lost-write".to_owned()));
    assert!(seen.contains(&"vanished-read".to_owned()));
}

#[test]
fn acks_one_may_lose_acked_but_not_consumed_records_to_kills() {
    let settings = settings(Acks::Leader, 1, false);
    let promise = Promise::resolve(&settings, KILLS, false);
    assert!(promise.permits("lost-write", Scope::Any).is_some());
    assert!(promise.permits("vanished-read", Scope::Any).is_none());
    assert!(
        promise
            .permits("inconsistent-offsets", Scope::Claims)
            .is_some()
    );
    assert!(
        promise
            .permits("inconsistent-offsets", Scope::Any)
            .is_none()
    );
}

#[test]
fn acks_zero_promises_that_consumed_records_stay() {
    assert!(permitted(&settings(Acks::None, 1, false), KILLS).is_empty());
    let under_disks = permitted(&settings(Acks::None, 1, false), DISKS);
    assert!(under_disks.contains(&"vanished-read".to_owned()));
    assert!(!under_disks.contains(&"lost-write".to_owned()));
}

#[test]
fn unclean_elections_may_lose_everything_and_reuse_offsets() {
    let promise = Promise::resolve(&settings(Acks::All, 2, true), KILLS, false);
    for anomaly in ["lost-write", "vanished-read", "inconsistent-offsets"] {
        assert!(promise.permits(anomaly, Scope::Any).is_some(), "{anomaly}");
    }
}

#[test]
fn a_duplicate_is_permitted_only_to_retries_without_idempotence() {
    let mut settings = settings(Acks::All, 2, false);
    settings.retries = 3;
    assert_eq!(permitted(&settings, KILLS), ["duplicate"]);
    settings.idempotent = true;
    assert!(permitted(&settings, KILLS).is_empty());
}

#[test]
fn strict_counts_every_loss_whatever_the_settings() {
    let promise = Promise::resolve(&settings(Acks::Leader, 1, true), DISKS, true);
    assert!(promise.permits("lost-write", Scope::Any).is_none());
    assert!(promise.permits("vanished-read", Scope::Any).is_none());
}

#[test]
fn acks_are_read_as_numbers_and_as_words() {
    for (text, acks) in [
        ("0", Acks::None),
        ("1", Acks::Leader),
        ("-1", Acks::All),
        ("\"all\"", Acks::All),
    ] {
        assert_eq!(serde_json::from_str::<Acks>(text).unwrap(), acks);
    }
    assert!(serde_json::from_str::<Acks>("2").is_err());
}
