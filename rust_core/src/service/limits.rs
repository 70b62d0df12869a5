//! How much at once: limits of the server and of each tenant, refused at once and cheaply.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use parking_lot::RwLock;

use crate::metrics::{Instrument, Snapshot, reading};
use crate::status::{Code, Status};
use crate::wire::ErrorReason;

/// Bytes are metered in units of this size, so that rates beyond 4 GB/s fit the meter.
const METERED_BYTES: usize = 1024;
/// When a server or a tenant with as many calls in flight as allowed may have room again.
const BUSY: Duration = Duration::from_secs(1);

/// What is allowed. `None`: no limit.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Calls in flight on the server.
    pub max_calls: usize,
    /// Bytes of a request.
    pub max_message_bytes: usize,
    /// Calls in flight of one tenant.
    pub tenant_calls: Option<usize>,
    /// Calls a second of one tenant; as many may come at once.
    pub tenant_call_rate: Option<NonZeroU32>,
    /// Bytes of requests a second of one tenant. The largest request may come at once.
    pub tenant_byte_rate: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_calls: usize::MAX,
            max_message_bytes: usize::MAX,
            tenant_calls: None,
            tenant_call_rate: None,
            tenant_byte_rate: None,
        }
    }
}

/// A tenant that has called.
pub struct Tenant {
    name: String,
    active: AtomicUsize,
    calls: Option<DefaultDirectRateLimiter>,
    bytes: Option<DefaultDirectRateLimiter>,
}

/// A request that was let in. Dropped, its place is free.
pub struct Pass {
    tenant: Arc<Tenant>,
    server: Arc<AtomicUsize>,
}

impl Pass {
    /// The name of the tenant.
    #[must_use]
    pub fn tenant(&self) -> &str {
        &self.tenant.name
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.tenant.active.fetch_sub(1, Ordering::Relaxed);
        self.server.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The server's place where requests are let in.
pub(super) struct Gate {
    limits: Limits,
    active: Arc<AtomicUsize>,
    // Names come from the operator's tokens and certificates, so their number is the operator's.
    tenants: RwLock<HashMap<String, Arc<Tenant>>>,
    rejected: Instrument,
}

impl Gate {
    pub(super) fn new(limits: Limits) -> Self {
        let rejected = Instrument::new(
            "tokencount.server.rejected_calls",
            "Calls turned away by a limit",
            "{call}",
            &["tokencount.reason"],
            &[],
        );
        Self { limits, active: Arc::default(), tenants: RwLock::default(), rejected }
    }

    pub(super) const fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(super) fn active(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    pub(super) fn tenant(&self, name: &str) -> Arc<Tenant> {
        if let Some(tenant) = self.tenants.read().get(name) {
            return tenant.clone();
        }
        let mut tenants = self.tenants.write();
        tenants.entry(name.to_owned()).or_insert_with(|| Arc::new(self.new_tenant(name))).clone()
    }

    fn new_tenant(&self, name: &str) -> Tenant {
        let Limits { tenant_call_rate, tenant_byte_rate, max_message_bytes, .. } = self.limits;
        let bytes = tenant_byte_rate.map(|rate| {
            let burst = metered(max_message_bytes).max(metered(rate as usize));
            RateLimiter::direct(Quota::per_second(metered(rate as usize)).allow_burst(burst))
        });
        Tenant {
            name: name.to_owned(),
            active: AtomicUsize::new(0),
            calls: tenant_call_rate.map(|rate| RateLimiter::direct(Quota::per_second(rate))),
            bytes,
        }
    }

    pub(super) fn admit(&self, tenant: &Arc<Tenant>, size: usize) -> Result<Pass, Status> {
        if size > self.limits.max_message_bytes {
            return Err(self.too_large(Some(size)));
        }
        let pass = self.enter(tenant)?;
        if let Some(wait) = tenant.calls.as_ref().and_then(|meter| wait(meter, NonZeroU32::MIN)) {
            return Err(self.refuse("calls_per_second", "calls a second", wait));
        }
        if let Some(wait) = tenant.bytes.as_ref().and_then(|meter| wait(meter, metered(size))) {
            return Err(self.refuse("bytes_per_second", "bytes a second", wait));
        }
        Ok(pass)
    }

    /// Takes a place among the calls in flight.
    fn enter(&self, tenant: &Arc<Tenant>) -> Result<Pass, Status> {
        let ours = tenant.active.fetch_add(1, Ordering::Relaxed);
        let all = self.active.fetch_add(1, Ordering::Relaxed);
        // From here on, dropping it gives both places back.
        let pass = Pass { tenant: tenant.clone(), server: self.active.clone() };
        if all >= self.limits.max_calls {
            self.rejected.add(&["server_calls"], 1.0);
            let message = "the server has as many calls in flight as it takes: retry after a while";
            return Err(Status::retry(ErrorReason::Overloaded, message, BUSY));
        }
        if self.limits.tenant_calls.is_some_and(|limit| ours >= limit) {
            return Err(self.refuse("tenant_calls", "calls in flight", BUSY));
        }
        Ok(pass)
    }

    fn refuse(&self, reason: &str, what: &str, after: Duration) -> Status {
        self.rejected.add(&[reason], 1.0);
        let message = format!("the tenant has as many {what} as it may: retry after a while");
        Status::retry(ErrorReason::QuotaExceeded, message, after)
    }

    pub(super) fn too_large(&self, size: Option<usize>) -> Status {
        self.rejected.add(&["message_bytes"], 1.0);
        let limit = self.limits.max_message_bytes;
        let size = size.map_or_else(|| "more".to_owned(), |size| format!("{size} bytes"));
        let message = format!(
            "the request has {size} and the server takes {limit}: send `base` and the new messages only"
        );
        Status::new(Code::ResourceExhausted, ErrorReason::TooLarge, message)
    }

    pub(super) fn metrics(&self) -> Vec<Snapshot> {
        let active = ("tokencount.server.active_calls", "Calls in flight", "{call}", "gauge");
        vec![reading(active, &[(&[], self.active() as u64)]), self.rejected.snapshot()]
    }
}

fn metered(bytes: usize) -> NonZeroU32 {
    let units = bytes.div_ceil(METERED_BYTES).max(1);
    u32::try_from(units).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MAX)
}

/// How long until the meter allows it. `None`: now, and it is taken off.
fn wait(meter: &DefaultDirectRateLimiter, units: NonZeroU32) -> Option<Duration> {
    match meter.check_n(units) {
        Ok(Ok(())) => None,
        Ok(Err(later)) => Some(later.wait_time_from(DefaultClock::default().now())),
        // More than the meter ever allows at once; the burst is made so that this can't be.
        Err(_) => Some(BUSY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(result: Result<Pass, Status>) -> Option<ErrorReason> {
        result.err().map(|status| status.reason)
    }

    #[test]
    fn a_place_is_free_again_when_its_pass_is_dropped() {
        let gate = Gate::new(Limits { max_calls: 2, ..Limits::default() });
        let tenant = gate.tenant("a");
        let first = gate.admit(&tenant, 1).expect("there is room");
        let _second = gate.admit(&tenant, 1).expect("there is room");
        assert_eq!(reason(gate.admit(&tenant, 1)), Some(ErrorReason::Overloaded));
        assert_eq!(gate.active(), 2);
        drop(first);
        assert!(gate.admit(&tenant, 1).is_ok());
    }

    #[test]
    fn a_tenant_is_held_to_its_own_limits() {
        let gate = Gate::new(Limits { tenant_calls: Some(1), ..Limits::default() });
        let (a, b) = (gate.tenant("a"), gate.tenant("b"));
        let _pass = gate.admit(&a, 1).expect("there is room");
        assert_eq!(reason(gate.admit(&gate.tenant("a"), 1)), Some(ErrorReason::QuotaExceeded));
        assert!(gate.admit(&b, 1).is_ok());
    }

    #[test]
    fn rates_say_when_to_come_back() {
        let one = NonZeroU32::new(1);
        let gate = Gate::new(Limits { tenant_call_rate: one, ..Limits::default() });
        let tenant = gate.tenant("a");
        assert!(gate.admit(&tenant, 1).is_ok());
        let status = gate.admit(&tenant, 1).err().expect("one a second");
        let after = status.retry_after.expect("it says when");
        assert!(after > Duration::ZERO && after <= Duration::from_secs(1), "{after:?}");
        assert_eq!(gate.active(), 0);
    }

    #[test]
    fn the_largest_request_may_come_at_once_and_no_second_one() {
        let limits = Limits {
            max_message_bytes: 1 << 20,
            tenant_byte_rate: Some(1 << 10),
            ..Limits::default()
        };
        let gate = Gate::new(limits);
        let tenant = gate.tenant("a");
        assert!(gate.admit(&tenant, 1 << 20).is_ok());
        assert_eq!(reason(gate.admit(&tenant, 1 << 20)), Some(ErrorReason::QuotaExceeded));
        assert_eq!(reason(gate.admit(&tenant, (1 << 20) + 1)), Some(ErrorReason::TooLarge));
    }
}
