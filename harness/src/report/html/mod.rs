//! report.html: one page without any external resource, readable without
//! JavaScript, in light and dark, on a phone and on paper.
//!
//! No layout here: bars and labels stand at percentages of the run, curves are
//! SVG in milliseconds, and the browser does the rest. Every value from outside
//! is escaped.

mod acks_lane;
mod axis;
mod banner;
mod cases;
mod data;
mod disks;
mod environment;
mod escape;
mod faults_lane;
mod found;
mod latency_lane;
mod legend;
mod log_lane;
mod lost_lane;
mod lost_tables;
mod marks;
mod nodes_lane;
mod object_page;
mod questions;
mod recovery;
mod scene;
mod story;
mod strip;
mod timeline;

use plimsoll_checkers::Verdict;
use plimsoll_checkers::history::History;

use super::RunMeta;
use super::faults::fault_windows;
use super::headline::headline;
use super::losses::LossReport;
use super::timeline::Timeline;
pub use escape::escaped;
pub use marks::{class, mark};
pub use object_page::object_page;

const CSS: &str = include_str!("page.css");
const JS: &str = include_str!("page.js");

/// The whole page.
pub fn page(history: &History, verdict: &Verdict, meta: &RunMeta, losses: &LossReport) -> String {
    let timeline = Timeline::new(history, verdict);
    let headline = headline(verdict);
    let windows = fault_windows(history);
    let sections = [
        banner::banner(&headline, verdict, meta),
        strip::strip(verdict, losses),
        timeline::section(&timeline, verdict),
        lost_tables::section(verdict, losses),
        recovery::section(verdict, losses),
        disks::section(losses),
        found::section(history, &windows, verdict),
        questions::section(&losses.questions),
        environment::section(history, verdict, meta),
        footer(verdict, meta),
    ];
    let data = data::json(&timeline, verdict);
    let scripts = format!(
        "<script type=\"application/json\" id=\"data\">{data}</script>\n<script>{JS}</script>"
    );
    document(&headline.text(), &sections.join("\n"), &scripts)
}

/// A page around its sections.
pub fn document(title: &str, sections: &str, scripts: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <title>plimsoll: {}</title><style>{CSS}{}</style>\n<body><main>\n{sections}\n</main>\n\
         {scripts}</body></html>\n",
        escaped(title),
        scene::CSS,
    )
}

fn footer(verdict: &Verdict, meta: &RunMeta) -> String {
    let run = meta.run.as_deref().or(verdict.run.as_deref());
    let place = run.map_or(String::new(), |run| {
        format!(" Everything else is in <code>{}</code>.", escaped(run))
    });
    format!(
        "<footer>plimsoll {}. The verdict stands in verdict.json beside this page.{place}</footer>",
        env!("CARGO_PKG_VERSION")
    )
}
