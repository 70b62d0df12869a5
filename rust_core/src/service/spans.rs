//! Spans of sampled calls, kept until tracing takes them away.
//!
//! Which calls are sampled is decided here, so that the others cost nothing; what becomes of the
//! spans is decided by the OpenTelemetry SDK.

use std::collections::VecDeque;
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::engine::Rpc;

/// Spans that wait to be taken. Above it, new ones are lost.
const CAPACITY: usize = 4096;
/// The lower half of a trace's id, in which a ratio is a threshold.
const HALF: f64 = 18_446_744_073_709_551_616.0;

/// A span of a call that has not ended.
#[derive(Clone, Debug)]
pub struct Span {
    /// What is called.
    pub rpc: Rpc,
    /// The trace.
    pub trace: u128,
    /// The caller's span; 0 means none.
    pub parent: u64,
    /// This one.
    pub id: u64,
    /// When the call came.
    pub start: SystemTime,
}

/// A span of a call that has ended.
#[derive(Clone, Debug)]
pub struct FinishedSpan {
    /// The span.
    pub span: Span,
    /// When the call ended.
    pub end: SystemTime,
    /// Its gRPC code.
    pub code: i32,
}

/// The spans of one server.
#[derive(Default)]
pub struct Spans {
    ratio: Option<f64>,
    finished: Mutex<VecDeque<FinishedSpan>>,
}

impl Spans {
    /// Samples what its caller samples, and `ratio` of the calls without a trace. `None`: nothing.
    #[must_use]
    pub fn new(ratio: Option<f64>) -> Self {
        Self { ratio, finished: Mutex::default() }
    }

    /// The span of a call that begins now, if it is sampled. `traceparent` is the caller's, as
    /// W3C Trace Context has it.
    pub fn begin(&self, rpc: Rpc, traceparent: Option<&[u8]>) -> Option<Span> {
        let ratio = self.ratio?;
        let start = SystemTime::now();
        let random = || getrandom::u64().ok();
        match traceparent.and_then(parse) {
            Some((_, _, false)) => None,
            Some((trace, parent, true)) => {
                Some(Span { rpc, trace, parent, id: random()?.max(1), start })
            }
            None => {
                let low = random()?;
                let trace = u128::from(random()?) << 64 | u128::from(low);
                let sampled = (low as f64) < ratio * HALF && trace != 0;
                sampled.then_some(())?;
                Some(Span { rpc, trace, parent: 0, id: random()?.max(1), start })
            }
        }
    }

    /// Keeps a span whose call has ended with a gRPC code.
    pub fn end(&self, span: Option<Span>, code: i32) {
        let Some(span) = span else { return };
        let mut finished = self.finished.lock();
        if finished.len() < CAPACITY {
            finished.push_back(FinishedSpan { span, end: SystemTime::now(), code });
        }
    }

    /// Takes the spans that have ended since the last time.
    pub fn take(&self) -> Vec<FinishedSpan> {
        std::mem::take(&mut *self.finished.lock()).into()
    }
}

/// Trace, parent and whether it is sampled: `00-TRACE-PARENT-FLAGS`, of any later version too.
fn parse(header: &[u8]) -> Option<(u128, u64, bool)> {
    let mut fields = std::str::from_utf8(header).ok()?.split('-');
    let mut hex = |digits: usize| {
        let field = fields.next()?;
        let right = field.len() == digits && field.bytes().all(|b| b.is_ascii_hexdigit());
        right.then_some(field)
    };
    let version = u8::from_str_radix(hex(2)?, 16).ok()?;
    let trace = u128::from_str_radix(hex(32)?, 16).ok()?;
    let parent = u64::from_str_radix(hex(16)?, 16).ok()?;
    let flags = u8::from_str_radix(hex(2)?, 16).ok()?;
    (version != 0xff && trace != 0 && parent != 0).then_some((trace, parent, flags & 1 == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &[u8] = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_sampled_trace_is_continued() {
        let span = Spans::new(Some(0.0)).begin(Rpc::CountMessages, Some(HEADER)).expect("sampled");
        assert_eq!(span.trace, 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c);
        assert_eq!(span.parent, 0xb7ad_6b71_6920_3331);
        assert_ne!(span.id, 0);
    }

    #[test]
    fn what_is_no_header_starts_a_trace() {
        for wrong in [&b""[..], b"00-0-0-01", b"ff", &HEADER[..50], b"\xff\xfe"] {
            let span = Spans::new(Some(1.0)).begin(Rpc::CountMessages, Some(wrong));
            assert_eq!(span.expect("sampled").parent, 0);
            assert!(Spans::new(Some(0.0)).begin(Rpc::CountMessages, Some(wrong)).is_none());
        }
    }

    #[test]
    fn without_tracing_nothing_is_kept() {
        let spans = Spans::default();
        spans.end(spans.begin(Rpc::CountMessages, Some(HEADER)), 0);
        assert!(spans.take().is_empty());
    }

    #[test]
    fn what_waits_is_bounded() {
        let spans = Spans::new(Some(1.0));
        for _ in 0..=CAPACITY {
            spans.end(spans.begin(Rpc::CountMessages, None), 0);
        }
        assert_eq!(spans.take().len(), CAPACITY);
        assert!(spans.take().is_empty());
    }
}
