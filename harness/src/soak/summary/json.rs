//! The summary as JSON, for other programs.

use serde_json::{Value, json};

use super::super::ledger::{CanaryTally, CellTally};
use super::super::record::Ending;
use super::super::series::Series;
use super::Summary;
use super::words::ratio;

impl Summary<'_> {
    pub fn json(&self) -> Value {
        let ledger = self.ledger;
        json!({
            "headline": self.headline(),
            "suite": self.terms.suite,
            "seed": self.terms.seed,
            "folder": self.folder.display().to_string(),
            "elapsed_ms": self.elapsed_ms,
            "runs": ledger.runs(),
            "valid": ledger.count(Ending::Valid) + ledger.count(Ending::PermittedLoss),
            "permitted_losses": ledger.count(Ending::PermittedLoss),
            "invalid": ledger.count(Ending::Invalid),
            "unknown": ledger.count(Ending::Unknown),
            "test_bed_failures": ledger.count(Ending::TestBed),
            "blind": ledger.is_blind(),
            "cells": ledger.cells.iter().map(cell_json).collect::<Vec<_>>(),
            "canaries": ledger.canaries.iter().map(canary_json).collect::<Vec<_>>(),
            "violations": ledger.violations,
            "kept": self.kept,
            "thinned": self.thinned,
            "soak_rss_kib": series_json(&ledger.soak_rss_kib),
            "run_rss_kib": series_json(&ledger.run_rss_kib),
            "disk_bytes": series_json(&ledger.disk_bytes),
        })
    }
}

fn cell_json(cell: &CellTally) -> Value {
    json!({
        "name": cell.name,
        "runs": cell.runs,
        "valid": cell.count(Ending::Valid) + cell.count(Ending::PermittedLoss),
        "permitted_losses": cell.count(Ending::PermittedLoss),
        "invalid": cell.count(Ending::Invalid),
        "unknown": cell.count(Ending::Unknown),
        "test_bed_failures": cell.count(Ending::TestBed),
        "attempted": cell.attempted,
        "acked": cell.acked,
        "lost_acked": cell.lost_acked,
        "lost_share": ratio(cell.lost_acked, cell.acked),
        "faults": cell.faults,
        "writes_unavailable_ms_max": cell.writes_unavailable_ms_max,
    })
}

fn canary_json(canary: &CanaryTally) -> Value {
    json!({
        "bug": canary.bug,
        "caught": canary.caught,
        "missed": canary.missed,
        "trials": canary.trials,
        "trials_most": canary.trials_max,
        "trials_allowed": canary.trials_allowed,
    })
}

fn series_json(series: &Series) -> Value {
    series.shown().map_or(Value::Null, |shown| {
        json!({ "first": shown.first, "median": shown.median, "last": shown.last, "max": shown.max })
    })
}
