//! The story itself. Each step waits until the replicas are as they must be,
//! prints them, and says what that means; a state that does not come, or that
//! goes away again, ends it.

use std::time::{Duration, Instant};

use super::stage::{Pending, Stage};
use super::view::{Replica, table};

const STEP_LIMIT: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_millis(30);
const ACKS_ALL: i16 = -1;
const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

/// A step that did not come out as it must.
#[derive(Debug, thiserror::Error)]
#[error("step {step} went wrong: {wanted} was expected within {limit} s, but it is:\n{shown}")]
pub struct WentWrong {
    step: u32,
    wanted: String,
    limit: u64,
    shown: String,
}

/// What one replica must be.
struct Must {
    log: &'static [i64],
    hw: i64,
}

/// The state that one step must reach.
struct Wanted {
    leader: usize,
    isr: &'static str,
    /// None: the node is down.
    replicas: [Option<Must>; 3],
}

fn must(log: &'static [i64], hw: i64) -> Option<Must> {
    Some(Must { log, hw })
}

impl Wanted {
    fn describe(&self) -> String {
        let mut all = vec![format!(
            "{} leads, ISR {{{}}}",
            letter(self.leader),
            self.isr
        )];
        for (replica, letter) in self.replicas.iter().zip('A'..) {
            all.push(match replica {
                None => format!("{letter} is down"),
                Some(must) => format!("{letter} has {:?} and HW {}", must.log, must.hw),
            });
        }
        all.join("; ")
    }

    fn is_met(&self, seen: &[Replica]) -> bool {
        let each = self.replicas.iter().zip(seen).enumerate();
        seen.len() == 3
            && each
                .into_iter()
                .all(|(position, (must, replica))| match must {
                    None => !replica.up,
                    Some(must) => {
                        replica.up
                            && replica.leads == (position == self.leader)
                            && replica.isr == self.isr
                            && replica.log == must.log
                            && replica.leo == i64::try_from(must.log.len()).unwrap_or(-1)
                            && replica.hw == must.hw
                    }
                })
    }
}

fn letter(replica: usize) -> char {
    "ABC".chars().nth(replica).unwrap_or('?')
}

/// Tells the whole story.
pub async fn tell(mut stage: Stage) -> anyhow::Result<()> {
    say(
        0,
        "Three replicas of one partition, all in the ISR; A leads.",
    );
    reach(
        &stage,
        0,
        &Wanted {
            leader: A,
            isr: "ABC",
            replicas: [must(&[], 0), must(&[], 0), must(&[], 0)],
        },
    )
    .await?;
    let (m2, m3) = only_m1_is_committed(&stage).await?;
    m2_is_committed(&stage, m2).await?;
    the_leader_dies(&mut stage, m3).await?;
    the_new_leader_goes_on(&stage).await?;
    the_old_leader_returns(&mut stage).await?;
    m3_is_sent_again(&stage).await?;
    say!("\nEvery step came out as it must.");
    Ok(())
}

/// B is held at offset 2 and C at offset 1 while A takes m1, m2 and m3. The
/// answers to m2 and m3 are still to come.
async fn only_m1_is_committed(stage: &Stage) -> anyhow::Result<(Pending, Pending)> {
    stage.hold(B, Some(2)).await?;
    stage.hold(C, Some(1)).await?;
    acknowledged(stage.begin(A, 1, ACKS_ALL)).await?;
    let m2 = stage.begin(A, 2, ACKS_ALL);
    stage.await_leo(A, 2).await?;
    let m3 = stage.begin(A, 3, ACKS_ALL);
    let text = "A has m1, m2, m3; B has m1, m2; C has m1. Only m1 is on every member of the ISR, \
                so only m1 is committed and acknowledged.";
    say(1, text);
    let replicas = [must(&[1, 2, 3], 1), must(&[1, 2], 1), must(&[1], 1)];
    reach(
        stage,
        1,
        &Wanted {
            leader: A,
            isr: "ABC",
            replicas,
        },
    )
    .await?;
    Ok((m2, m3))
}

async fn m2_is_committed(stage: &Stage, m2: Pending) -> anyhow::Result<()> {
    stage.hold(C, Some(2)).await?;
    say(
        2,
        "m2 reaches C: it is on every member of the ISR, is committed and acknowledged.",
    );
    let replicas = [must(&[1, 2, 3], 2), must(&[1, 2], 2), must(&[1, 2], 2)];
    reach(
        stage,
        2,
        &Wanted {
            leader: A,
            isr: "ABC",
            replicas,
        },
    )
    .await?;
    acknowledged(m2).await
}

async fn the_leader_dies(stage: &mut Stage, m3: Pending) -> anyhow::Result<()> {
    stage.kill(A)?;
    stage.hold(B, None).await?;
    stage.hold(C, None).await?;
    let text = "A is killed. B, the next of the ISR, leads; m1 and m2 are kept. m3, which only A \
                had, is not: its producer got an error, no acknowledgement.";
    say(3, text);
    let replicas = [None, must(&[1, 2], 2), must(&[1, 2], 2)];
    reach(
        stage,
        3,
        &Wanted {
            leader: B,
            isr: "BC",
            replicas,
        },
    )
    .await?;
    match m3.acknowledged().await {
        Err(_) => Ok(()),
        Ok(offset) => anyhow::bail!("m3 was acknowledged at offset {offset} and is lost"),
    }
}

async fn the_new_leader_goes_on(stage: &Stage) -> anyhow::Result<()> {
    acknowledged(stage.begin(B, 4, ACKS_ALL)).await?;
    acknowledged(stage.begin(B, 5, ACKS_ALL)).await?;
    say(4, "B takes m4 and m5, C follows, and both are committed.");
    let replicas = [None, must(&[1, 2, 4, 5], 4), must(&[1, 2, 4, 5], 4)];
    reach(
        stage,
        4,
        &Wanted {
            leader: B,
            isr: "BC",
            replicas,
        },
    )
    .await
}

async fn the_old_leader_returns(stage: &mut Stage) -> anyhow::Result<()> {
    stage.start(A)?;
    let text = "A returns, truncates to the common point (m3 is gone) and fetches from B until it \
                is equal: the ISR is whole again.";
    say(5, text);
    let all = || must(&[1, 2, 4, 5], 4);
    reach(
        stage,
        5,
        &Wanted {
            leader: B,
            isr: "ABC",
            replicas: [all(), all(), all()],
        },
    )
    .await
}

async fn m3_is_sent_again(stage: &Stage) -> anyhow::Result<()> {
    acknowledged(stage.begin(B, 3, ACKS_ALL)).await?;
    let text = "m3's producer sends it again: it now comes after m5. The order that is kept is \
                the order of commit, not of sending.";
    say(6, text);
    let all = || must(&[1, 2, 4, 5, 3], 5);
    reach(
        stage,
        6,
        &Wanted {
            leader: B,
            isr: "ABC",
            replicas: [all(), all(), all()],
        },
    )
    .await
}

async fn acknowledged(pending: Pending) -> anyhow::Result<()> {
    pending
        .acknowledged()
        .await
        .map(drop)
        .map_err(anyhow::Error::msg)
}

fn say(step: u32, text: &str) {
    say!("\nStep {step}. {text}");
}

async fn reach(stage: &Stage, step: u32, wanted: &Wanted) -> anyhow::Result<()> {
    let deadline = Instant::now() + STEP_LIMIT;
    loop {
        let seen = stage.look().await;
        if wanted.is_met(&seen) {
            say!("{}", table(&seen));
            return Ok(());
        }
        if Instant::now() > deadline {
            let (wanted, shown) = (wanted.describe(), table(&seen));
            let limit = STEP_LIMIT.as_secs();
            return Err(WentWrong {
                step,
                wanted,
                limit,
                shown,
            }
            .into());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(position: usize, log: &[i64], hw: i64) -> Replica {
        Replica {
            letter: letter(position),
            up: true,
            leads: position == A,
            log: log.into(),
            leo: i64::try_from(log.len()).expect("small"),
            hw,
            isr: "ABC".to_owned(),
            ..Replica::default()
        }
    }

    #[test]
    fn a_step_is_reached_only_when_every_replica_is_as_it_must_be() {
        let wanted = Wanted {
            leader: A,
            isr: "ABC",
            replicas: [must(&[1, 2], 1), must(&[1], 1), must(&[1], 1)],
        };
        let right = [
            replica(A, &[1, 2], 1),
            replica(B, &[1], 1),
            replica(C, &[1], 1),
        ];
        assert!(wanted.is_met(&right));
        let mut wrong = right.clone();
        wrong[2].hw = 2;
        assert!(!wanted.is_met(&wrong));
        let mut wrong = right;
        wrong[1].leads = true;
        assert!(!wanted.is_met(&wrong));
    }
}
