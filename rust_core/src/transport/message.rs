//! gRPC's messages as bytes: what tonic needs to carry them without looking into them.

use std::time::{Duration, Instant};

use bytes::{Buf, BufMut, Bytes};
use http::{HeaderMap, HeaderValue, Response, header};
use tokio_stream::Stream;
use tonic::body::Body;
use tonic::codec::{
    BufferSettings, CompressionEncoding, DecodeBuf, Decoder, EncodeBody, EncodeBuf, Encoder,
    SingleMessageCompressionOverride,
};
use tonic::{Code, Status};

use crate::status::Status as Refusal;

/// Answers below this size are sent as they are: they would hardly get smaller.
const COMPRESSED_BYTES: usize = 1024;
/// A first guess at the size of a message; buffers grow as needed.
const BUFFER_BYTES: usize = 1 << 10;
/// Answers of a stream are sent when so many bytes of them are ready, or no more are.
const SEND_BYTES: usize = 32 << 10;

/// Messages as bytes.
#[derive(Clone, Copy, Debug)]
pub struct Raw;

impl Decoder for Raw {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(source.copy_to_bytes(source.remaining())))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER_BYTES, SEND_BYTES)
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, target: &mut EncodeBuf<'_>) -> Result<(), Status> {
        target.put_slice(&item);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::new(BUFFER_BYTES, SEND_BYTES)
    }
}

/// The failure as tonic sends it.
pub fn status(refusal: &Refusal) -> Status {
    let code = Code::from_i32(refusal.code as i32);
    Status::with_details(code, refusal.to_string(), refusal.details().into())
}

/// How the request's messages are compressed.
pub fn encoding(headers: &HeaderMap) -> Result<Option<CompressionEncoding>, Status> {
    match headers.get("grpc-encoding").map(HeaderValue::as_bytes) {
        None | Some(b"identity") => Ok(None),
        Some(b"gzip") => Ok(Some(CompressionEncoding::Gzip)),
        Some(b"zstd") => Ok(Some(CompressionEncoding::Zstd)),
        Some(_) => {
            let mut status =
                Status::unimplemented("grpc-encoding: takes gzip, zstd or identity for requests");
            let accepted = "gzip,zstd,identity".parse().expect("a right header");
            status.metadata_mut().insert("grpc-accept-encoding", accepted);
            Err(status)
        }
    }
}

/// How the caller takes large answers.
pub fn accepted(headers: &HeaderMap) -> Option<CompressionEncoding> {
    let names = headers.get("grpc-accept-encoding")?.to_str().ok()?;
    names.split(',').find_map(|name| match name.trim() {
        "gzip" => Some(CompressionEncoding::Gzip),
        "zstd" => Some(CompressionEncoding::Zstd),
        _ => None,
    })
}

/// When the caller gives up: `grpc-timeout` is at most eight digits and a unit.
pub fn deadline(headers: &HeaderMap) -> Result<Option<Instant>, Status> {
    let Some(value) = headers.get("grpc-timeout") else { return Ok(None) };
    let timeout = value.to_str().ok().and_then(timeout);
    let timeout = timeout.ok_or_else(|| {
        Status::invalid_argument("grpc-timeout: takes up to 8 digits and one of H, M, S, m, u, n")
    })?;
    Ok(Instant::now().checked_add(timeout))
}

fn timeout(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

/// The response that carries these answers, each compressed where that pays.
pub fn response<S>(answers: S, compression: Option<CompressionEncoding>) -> Response<Body>
where
    S: Stream<Item = Result<Vec<u8>, Status>> + Send + 'static,
{
    let inherit = SingleMessageCompressionOverride::Inherit;
    let body = EncodeBody::new_server(Raw, answers, compression, inherit, Some(usize::MAX));
    let mut response = Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    if let Some(encoding) = compression {
        let name = if encoding == CompressionEncoding::Gzip { "gzip" } else { "zstd" };
        headers.insert("grpc-encoding", HeaderValue::from_static(name));
    }
    response
}

/// Whether a single answer of that size is worth compressing.
pub const fn is_large(size: usize) -> bool {
    size >= COMPRESSED_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts() {
        for (text, expected) in [
            ("1H", Some(Duration::from_secs(3600))),
            ("2M", Some(Duration::from_secs(120))),
            ("3S", Some(Duration::from_secs(3))),
            ("99999999m", Some(Duration::from_millis(99_999_999))),
            ("5u", Some(Duration::from_micros(5))),
            ("0n", Some(Duration::ZERO)),
            ("", None),
            ("S", None),
            ("1", None),
            ("1s", None),
            ("-1S", None),
            ("+1S", None),
            ("123456789S", None),
            ("1µ", None),
        ] {
            assert_eq!(timeout(text), expected, "{text}");
        }
    }
}
