//! Frames between nodes: length, kind and number of the call, then the message (postcard).

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::core::ids::CallId;

/// No message between nodes is larger.
pub const FRAME_BYTES_MAX: usize = 32 << 20;
/// First bytes of every frame, so that foreign bytes are told apart at once.
const MAGIC: u32 = 0x504c_4d31;
const HEADER_BYTES: usize = 4 + 4 + 8;

/// Encodes one frame; none where the message is too large to be sent.
pub fn encode<T: Serialize>(call: CallId, message: &T) -> Option<Bytes> {
    let body = postcard::to_stdvec(message).ok()?;
    if body.len() > FRAME_BYTES_MAX {
        return None;
    }
    let mut frame = BytesMut::with_capacity(HEADER_BYTES + body.len());
    frame.put_u32(MAGIC);
    frame.put_u32(u32::try_from(body.len()).ok()?);
    frame.put_u64(call);
    frame.put_slice(&body);
    Some(frame.freeze())
}

/// Reads one frame; none at the end of the stream.
///
/// # Errors
/// Where the bytes are no frame of ours. Memory grows only as bytes arrive.
pub async fn read<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> std::io::Result<Option<(CallId, T)>> {
    let wrong = |what: String| std::io::Error::new(std::io::ErrorKind::InvalidData, what);
    let mut header = [0; HEADER_BYTES];
    match from.read_exact(&mut header).await {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut fields = &header[..];
    let (magic, length, call) = (
        bytes::Buf::get_u32(&mut fields),
        bytes::Buf::get_u32(&mut fields) as usize,
        bytes::Buf::get_u64(&mut fields),
    );
    if magic != MAGIC || length > FRAME_BYTES_MAX {
        return Err(wrong(format!(
            "no frame of a peer (it begins with {magic:08x}, {length} bytes)"
        )));
    }
    let mut body = Vec::new();
    from.take(length as u64).read_to_end(&mut body).await?;
    if body.len() < length {
        return Ok(None);
    }
    let message = postcard::from_bytes(&body)
        .map_err(|error| wrong(format!("no message of a peer: {error}")))?;
    Ok(Some((call, message)))
}
