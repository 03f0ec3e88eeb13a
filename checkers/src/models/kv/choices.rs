//! All combinations of choices, one after another, where later choices depend on earlier ones.

/// The choices of one pass, and which passes are still to come.
#[derive(Debug)]
pub(super) struct Choices {
    /// What was picked, of how many.
    picked: Vec<(usize, usize)>,
    next: usize,
}

impl Choices {
    pub fn new() -> Self {
        Self {
            picked: Vec::new(),
            next: 0,
        }
    }

    /// One of `options`, by index.
    pub fn pick(&mut self, options: usize) -> usize {
        if self.next == self.picked.len() {
            self.picked.push((0, options));
        }
        self.next += 1;
        self.picked[self.next - 1].0
    }

    /// Prepares the next pass; false after the last.
    pub fn next_reading(&mut self) -> bool {
        self.next = 0;
        while let Some((picked, options)) = self.picked.pop() {
            if picked + 1 < options {
                self.picked.push((picked + 1, options));
                return true;
            }
        }
        false
    }
}
