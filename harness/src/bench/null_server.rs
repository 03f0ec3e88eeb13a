//! A server that answers like a broker and keeps nothing, on a thread of its
//! own whose CPU time can be told apart.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The server.
pub struct NullServer {
    addr: SocketAddr,
    cpu_ns: Arc<AtomicU64>,
}

impl NullServer {
    pub fn start(topic: &'static str) -> io::Result<NullServer> {
        let (sender, receiver) = sync_channel(1);
        let cpu_ns = Arc::new(AtomicU64::new(0));
        let shared = Arc::clone(&cpu_ns);
        std::thread::Builder::new()
            .name("null-server".to_owned())
            .spawn(move || serve(topic, &shared, &sender))?;
        let addr = receiver.recv().map_err(io::Error::other)??;
        Ok(NullServer { addr, cpu_ns })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// CPU time of the server's thread, as of a moment ago.
    pub fn cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }
}

type Ready = std::sync::mpsc::SyncSender<io::Result<SocketAddr>>;

fn serve(topic: &'static str, cpu_ns: &Arc<AtomicU64>, ready: &Ready) {
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(e) => return drop(ready.send(Err(e))),
    };
    runtime.block_on(async {
        let listener = match TcpListener::bind(("127.0.0.1", 0)).await {
            Ok(listener) => listener,
            Err(e) => return drop(ready.send(Err(e))),
        };
        let _ = ready.send(listener.local_addr());
        let offset = Arc::new(AtomicI64::new(0));
        tokio::spawn(publish_cpu(Arc::clone(cpu_ns)));
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(answer_all(stream, topic, Arc::clone(&offset)));
        }
    });
}

async fn publish_cpu(cpu_ns: Arc<AtomicU64>) {
    loop {
        if let Ok(cpu) = cpu_clock(libc::CLOCK_THREAD_CPUTIME_ID) {
            cpu_ns.store(
                u64::try_from(cpu.as_nanos()).unwrap_or(0),
                Ordering::Relaxed,
            );
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn answer_all(mut stream: TcpStream, topic: &'static str, offset: Arc<AtomicI64>) {
    let mut frame = Vec::new();
    while let Ok(length) = stream.read_u32().await {
        frame.resize(usize::try_from(length).unwrap_or(0).min(1 << 20), 0);
        if stream.read_exact(&mut frame).await.is_err() || frame.len() < 8 {
            return;
        }
        let Some(answer) = answer(&frame, topic, &offset) else {
            return;
        };
        if stream.write_all(&answer).await.is_err() {
            return;
        }
    }
}

fn answer(frame: &[u8], topic: &str, offset: &AtomicI64) -> Option<Vec<u8>> {
    let key = i16::from_be_bytes([frame[0], frame[1]]);
    let mut out = Out::default();
    out.bytes(&[0; 4]).bytes(&frame[4..8]);
    match key {
        0 => produced(&mut out, topic, offset.fetch_add(1, Ordering::Relaxed)),
        1 => fetched(&mut out, topic),
        3 => metadata(&mut out, topic),
        19 => out.i32(0).i32(1).string(topic).i16(0).i16(-1),
        _ => return None,
    };
    let length = u32::try_from(out.0.len() - 4).ok()?;
    out.0[..4].copy_from_slice(&length.to_be_bytes());
    Some(out.0)
}

fn produced<'a>(out: &'a mut Out, topic: &str, offset: i64) -> &'a mut Out {
    out.i32(1)
        .string(topic)
        .i32(1)
        .i32(0)
        .i16(0)
        .i64(offset)
        .i64(-1)
        .i64(0)
        .i32(0)
        .i16(-1)
        .i32(0)
}

fn fetched<'a>(out: &'a mut Out, topic: &str) -> &'a mut Out {
    out.i32(0)
        .i16(0)
        .i32(0)
        .i32(1)
        .string(topic)
        .i32(1)
        .i32(0)
        .i16(0);
    out.i64(1).i64(1).i64(0).i32(0).i32(-1).i32(0)
}

fn metadata<'a>(out: &'a mut Out, topic: &str) -> &'a mut Out {
    out.i32(0)
        .i32(0)
        .i16(-1)
        .i32(1)
        .i32(1)
        .i16(0)
        .string(topic)
        .bytes(&[0])
        .i32(4);
    for partition in 0..4 {
        out.i16(0)
            .i32(partition)
            .i32(1)
            .i32(1)
            .i32(1)
            .i32(1)
            .i32(1)
            .i32(1)
            .i32(0);
    }
    out.i32(0).i32(0)
}

#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Out {
        self.0.extend_from_slice(bytes);
        self
    }

    fn i16(&mut self, value: i16) -> &mut Out {
        self.bytes(&value.to_be_bytes())
    }

    fn i32(&mut self, value: i32) -> &mut Out {
        self.bytes(&value.to_be_bytes())
    }

    fn i64(&mut self, value: i64) -> &mut Out {
        self.bytes(&value.to_be_bytes())
    }

    fn string(&mut self, text: &str) -> &mut Out {
        self.i16(i16::try_from(text.len()).unwrap_or(0))
            .bytes(text.as_bytes())
    }
}

/// Reads one of the kernel's CPU clocks.
pub(super) fn cpu_clock(clock: libc::clockid_t) -> io::Result<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes only to the timespec given.
    if unsafe { libc::clock_gettime(clock, &raw mut time) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Ok(Duration::new(
        seconds,
        u32::try_from(time.tv_nsec).unwrap_or(0),
    ))
}
