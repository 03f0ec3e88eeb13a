//! One producer process: started in a place, greeted, served until nobody
//! sends any more, and ended.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use plimsoll_nemesis::lab::Place;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout, timeout_at};

use super::open::OpenSends;
use super::{END_MAX, LibraryPlan};
use crate::clients::Produce;
use crate::clients::library::{Hello, Said, SendLine, said};
use crate::runner::real::{Message, Messages};
use crate::session::ClientId;
use crate::systems::die_with_parent;

const CHECK_EVERY: Duration = Duration::from_millis(500);
/// Records written at once: one system call for all that wait.
const BATCH: usize = 256;
const LOG_TAIL_LINES: usize = 15;

type Orders = UnboundedReceiver<(ClientId, Produce)>;

pub(super) struct Process {
    name: String,
    log: PathBuf,
    one_attempt: bool,
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
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
            lines: BufReader::new(stdout).lines(),
        })
    }

    /// Tells it how to send and waits until it says that it is ready.
    pub async fn greet(&mut self, hello: &Hello, deadline: Instant) -> Result<(), String> {
        let mut line = serde_json::to_vec(hello).map_err(|e| e.to_string())?;
        line.push(b'\n');
        // Where it has ended already, it says nothing, and that is told below.
        let _ = self.stdin.write_all(&line).await;
        let first = match timeout_at(deadline, self.lines.next_line()).await {
            Err(_) => return Err(self.fault("did not become ready")),
            Ok(Ok(Some(first))) => first,
            Ok(_) => return Err(self.fault("ended before it was ready")),
        };
        match said(&first, self.one_attempt) {
            Ok(Said::Ready(_)) => Ok(()),
            _ => Err(self.fault(&format!(
                "should have said that it is ready, but said: {first}"
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
                line = self.lines.next_line() => match line {
                    Ok(Some(line)) => {
                        let reply = open.hear(&line, self.one_attempt)?;
                        let _ = messages.send(Message::Event(reply));
                    }
                    _ => return Err("ended by itself".to_owned()),
                },
                _ = check.tick() => open.check(Instant::now())?,
            }
        }
    }

    fn fault(&self, what: &str) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(LOG_TAIL_LINES)..);
        format!(
            "the producer process of {} {what}; {} ends with:\n{}",
            self.name,
            self.log.display(),
            tail.unwrap_or_default().join("\n")
        )
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
