//! The native transport: gRPC by tonic and hyper over the engine, without an interpreter.
//!
//! `accept` takes connections, `router` finds the method, `unary` and `stream` carry its messages
//! to the [`Service`] and its answers back.

mod accept;
mod budget;
mod health;
mod message;
mod receive;
mod router;
mod stream;
mod tls;
mod unary;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, watch};
use tokio_util::task::TaskTracker;

use crate::service::Service;
use budget::Budget;
pub use tls::{Tls, TlsError};

/// Bodies that are being received may take this many times the largest message in memory.
const BUFFERED_MESSAGES: usize = 8;
/// Threads beside the workers: each record in flight holds one while it waits for the disk.
const MAX_BLOCKING_THREADS: usize = 1024;

/// How the server treats its connections. Times are lengths of time.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Large prompts that are counted at one time.
    pub threads: usize,
    /// Connections above which further ones are closed at once.
    pub max_connections: usize,
    /// How old a connection may get, give or take a tenth, before its client is told to make a new
    /// one: thus clients spread over servers that came later.
    pub connection_age: Duration,
    /// How often a silent client is asked whether it is still there.
    pub keepalive: Duration,
    /// How long a request may take to arrive.
    pub receive_timeout: Duration,
    /// How long calls may take to finish, of a connection that is too old and in a drain.
    pub grace_period: Duration,
    /// How long a drain goes on as before when health says that it has begun: clients that look
    /// at health go elsewhere meanwhile, and none is in the middle of beginning a call when it is
    /// told to go.
    pub drain_delay: Duration,
}

/// A server that is listening.
pub struct Server {
    // Taken out when the server is dropped.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
    address: SocketAddr,
    connections: TaskTracker,
    phase: watch::Sender<Phase>,
}

/// Where a server is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// It serves.
    Serving,
    /// It serves, and says that it is about to end.
    Leaving,
    /// It takes no new connection and no new call.
    Draining,
}

/// What every connection needs.
struct Shared {
    service: Arc<Service>,
    options: Options,
    tls: ArcSwapOption<rustls::ServerConfig>,
    budget: Budget,
    /// Places for large counts.
    threads: Arc<Semaphore>,
    phase: watch::Receiver<Phase>,
}

impl Shared {
    /// Returns when the server has come to a phase.
    async fn reached(&self, phase: Phase) {
        // Fails when the server is gone, which is as good as draining.
        drop(self.phase.clone().wait_for(|now| *now >= phase).await);
    }
}

impl Server {
    /// Listens on `listen` and serves on threads of its own.
    pub fn start(
        service: Arc<Service>,
        listen: &str,
        options: Options,
        tls: Option<Tls>,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("tokencountd")
            .max_blocking_threads(MAX_BLOCKING_THREADS)
            .enable_all()
            .build()?;
        let listener = TcpListener::bind(listen)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (sender, phase) = watch::channel(Phase::Serving);
        let buffered = service.max_message_bytes().saturating_mul(BUFFERED_MESSAGES);
        let shared = Arc::new(Shared {
            service,
            options,
            tls: ArcSwapOption::new(tls.map(|tls| tls.0)),
            budget: Budget::new(buffered),
            threads: Arc::new(Semaphore::new(options.threads)),
            phase,
        });
        let connections = TaskTracker::new();
        let listener = runtime.block_on(async { tokio::net::TcpListener::from_std(listener) })?;
        let accepting = accept::accept(shared.clone(), listener, connections.clone());
        connections.spawn_on(accepting, runtime.handle());
        Ok(Self { runtime: Some(runtime), shared, address, connections, phase: sender })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Uses another certificate for connections from now on.
    pub fn set_tls(&self, tls: Tls) {
        self.shared.tls.store(Some(tls.0));
    }

    /// Turns health to `NOT_SERVING`, then takes no new connection, tells clients to go elsewhere,
    /// and waits until their calls are finished or the grace period is over. Returns how many calls
    /// were not.
    pub fn drain(&self) -> usize {
        if let Some(runtime) = &self.runtime {
            runtime.block_on(self.end());
        }
        self.shared.service.active()
    }

    async fn end(&self) {
        let Options { drain_delay, grace_period, .. } = self.shared.options;
        self.phase.send_replace(Phase::Leaving);
        // One of them is the task that accepts the others.
        if self.connections.len() > 1 {
            tokio::time::sleep(drain_delay).await;
        }
        self.phase.send_replace(Phase::Draining);
        self.connections.close();
        // The calls that are left are told by the return value.
        drop(tokio::time::timeout(grace_period, self.connections.wait()).await);
    }
}

impl Drop for Server {
    /// Without waiting for counts whose callers are gone.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
