//! One producer process: started in a place, greeted, served until nobody
//! sends any more, and ended.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use plimsoll_nemesis::lab::Place;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout, timeout_at};

use super::open::OpenSends;
use super::{END_MAX, LibraryPlan};
use crate::clients::Produce;
use crate::clients::library::{Hello, Said, SendLine, said};
use crate::runner::real::{Message, Messages};
use crate::session::ClientId;
use crate::systems::{die_with_parent, last_words, shortened};

const CHECK_EVERY: Duration = Duration::from_millis(500);
/// Records written at once: one system call for all that wait.
const BATCH: usize = 256;
/// A report is a few numbers and an error's text.
const LINE_MAX: usize = 64 * 1024;

type Orders = UnboundedReceiver<(ClientId, Produce)>;

pub(super) struct Process {
    name: String,
    log: PathBuf,
    one_attempt: bool,
    child: Child,
    stdin: ChildStdin,
    lines: Lines,
}

impl Process {
    pub fn start(plan: &LibraryPlan, name: &str, place: Option<&Place>) -> Result<Process, String> {
        let failed = |e: std::io::Error| {
            let program = plan.command.first().map_or("", String::as_str);
            format!("the producer {program} could not be started: {e}")
        };
        let no_program = || failed(std::io::Error::other("no program is named"));
        let (program, arguments) = plan.command.split_first().ok_or_else(no_program)?;
        fs::create_dir_all(&plan.logs).map_err(failed)?;
        let log = plan.logs.join(format!("{name}.log"));
        let mut command = std::process::Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).map_err(failed)?);
        die_with_parent(&mut command);
        if let Some(place) = place {
            place.put(&mut command);
        }
        let mut command = Command::from(command);
        let mut child = command.kill_on_drop(true).spawn().map_err(failed)?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(no_program)?;
        Ok(Process {
            name: name.to_owned(),
            log,
            one_attempt: plan.one_attempt,
            child,
            stdin,
            lines: Lines::of(stdout),
        })
    }

    /// Tells it how to send and waits until it says that it is ready.
    pub async fn greet(&mut self, hello: &Hello, deadline: Instant) -> Result<(), String> {
        let mut line = serde_json::to_vec(hello).map_err(|e| e.to_string())?;
        line.push(b'\n');
        // Where it has ended already, it says nothing, and that is told below.
        let _ = self.stdin.write_all(&line).await;
        let first = match timeout_at(deadline, self.lines.next()).await {
            Err(_) => return Err(self.fault("did not become ready")),
            Ok(Ok(Some(first))) => first,
            Ok(Ok(None)) => {
                let how = self.how_it_ended().await;
                return Err(self.fault(&format!("ended before it was ready{how}")));
            }
            Ok(Err(why)) => return Err(self.fault(&why)),
        };
        match said(&first, self.one_attempt) {
            Ok(Said::Ready(_)) => Ok(()),
            _ => Err(self.fault(&format!(
                "should have said that it is ready, but said: {}",
                shortened(&first)
            ))),
        }
    }

    /// Hands records over and reports back, until nobody sends any more.
    pub async fn serve(mut self, mut orders: Orders, messages: Messages) {
        let mut open = OpenSends::default();
        let ended = self.exchange(&mut orders, &mut open, &messages).await;
        if let Err(what) = ended {
            let _ = messages.send(Message::Failed(self.fault(&what)));
            let _ = self.child.start_kill();
        }
        drop(self.stdin);
        let _ = timeout(END_MAX, self.child.wait()).await;
    }

    async fn exchange(
        &mut self,
        orders: &mut Orders,
        open: &mut OpenSends,
        messages: &Messages,
    ) -> Result<(), String> {
        let (records, waiting) = unbounded_channel();
        // Beside the reading: a process may have to be heard before it takes more.
        let writing = write_all(&mut self.stdin, waiting);
        tokio::pin!(writing);
        // One that takes nothing more may still have something to report; its end is told there.
        let mut takes = true;
        let mut check = tokio::time::interval(CHECK_EVERY);
        loop {
            tokio::select! {
                () = &mut writing, if takes => takes = false,
                order = orders.recv() => match order {
                    Some((client, produce)) => {
                        let _ = records.send(open.add(client, &produce));
                    }
                    None => return Ok(()),
                },
                line = self.lines.next() => match line? {
                    Some(line) => {
                        let reply = open.hear(&line, self.one_attempt)?;
                        let _ = messages.send(Message::Event(reply));
                    }
                    None => {
                        let how = how_it_ended(&mut self.child).await;
                        return Err(format!("ended by itself{how}"));
                    }
                },
                _ = check.tick() => open.check(Instant::now())?,
            }
        }
    }

    async fn how_it_ended(&mut self) -> String {
        how_it_ended(&mut self.child).await
    }

    fn fault(&self, what: &str) -> String {
        let words = last_words(&self.log);
        let stderr = match words.is_empty() {
            true => "it said nothing on stderr".to_owned(),
            false => format!("{} ends with:\n{words}", self.log.display()),
        };
        format!(
            "the producer process in place {} {what}; {stderr}",
            self.name
        )
    }
}

/// Its exit status, where it does not go on without a standard output.
async fn how_it_ended(child: &mut Child) -> String {
    match timeout(END_MAX, child.wait()).await {
        Ok(Ok(status)) => format!(" ({status})"),
        _ => " (its standard output is closed, though it runs)".to_owned(),
    }
}

/// Its lines, each of bounded length: a process that breaks the protocol must not fill the memory.
struct Lines {
    stdout: BufReader<ChildStdout>,
    /// What was read of the next line when somebody stopped waiting for it.
    begun: Vec<u8>,
}

impl Lines {
    fn of(stdout: ChildStdout) -> Lines {
        Lines {
            stdout: BufReader::new(stdout),
            begun: Vec::new(),
        }
    }

    /// None at the end.
    async fn next(&mut self) -> Result<Option<String>, String> {
        let room = LINE_MAX + 1 - self.begun.len().min(LINE_MAX);
        let mut bounded = (&mut self.stdout).take(room as u64);
        let read = bounded.read_until(b'\n', &mut self.begun).await;
        let failed = |e: std::io::Error| format!("cannot be heard: {e}");
        if read.map_err(failed)? == 0 && self.begun.is_empty() {
            return Ok(None);
        }
        if self.begun.len() > LINE_MAX {
            return Err(format!("said a line of more than {LINE_MAX} bytes"));
        }
        let line = std::mem::take(&mut self.begun);
        let line = String::from_utf8(line).map_err(|e| {
            let said = String::from_utf8_lossy(e.as_bytes()).into_owned();
            format!("said what is not UTF-8: {}", shortened(&said))
        })?;
        Ok(Some(line))
    }
}

/// Ends only when the process takes nothing more.
async fn write_all(stdin: &mut ChildStdin, mut waiting: UnboundedReceiver<SendLine>) {
    let (mut batch, mut bytes) = (Vec::new(), Vec::new());
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        bytes.clear();
        for record in batch.drain(..) {
            // A line of three numbers always can be written.
            if serde_json::to_writer(&mut bytes, &record).is_ok() {
                bytes.push(b'\n');
            }
        }
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}
