//! The kept corpus and mutations of it, through each reader. The example
//! `fuzz_readers` does the same for as long as it is told.

mod fuzzing;

use std::path::Path;

#[test]
fn every_reader_keeps_its_promises_on_a_mutated_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    for (name, format) in fuzzing::READERS {
        let mut fuzz = fuzzing::Fuzz::new(format, &corpus.join(name), 7);
        let new = (0..3_000).filter(|_| fuzz.round().is_some()).count();
        assert!(new > 0, "{name}: no mutation had an outcome of its own");
    }
}
