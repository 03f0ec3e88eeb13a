//! The objects' side of the benchmarks.
//!
//! `linearize generate FOLDER` writes the made histories, `linearize judge WORK FILE...` judges
//! files and prints one line of JSON: median seconds, peak memory, verdicts. `benchmarks/run.sh`
//! runs it beside another checker.

mod generate;
mod registers;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["generate", folder] => generate::all(folder),
        ["judge", "register", files @ ..] => registers::judge(files),
        _ => {
            eprintln!("usage: linearize generate FOLDER | linearize judge WORK FILE...");
            std::process::exit(64);
        }
    }
}
