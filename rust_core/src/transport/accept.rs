//! Connections: accepted within a limit, wrapped in TLS, told to end when they are old.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::task::TaskTracker;

use super::router::Router;
use super::{Phase, Shared};
use crate::service;

/// How long a client may take over its TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long to wait when the process has no file descriptors left.
const EXHAUSTED: Duration = Duration::from_millis(50);
/// How long a client that is asked whether it is there may be silent.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// Calls of one connection at one time.
const STREAMS: u32 = 256;
/// Bytes of a call's metadata.
const HEADERS: u32 = 16 << 10;
/// Bytes that a client may send ahead, on one call and on the connection.
const WINDOW: u32 = 1 << 20;
/// Calls that a client may open and reset before the server has looked at them. Above it, the
/// connection is closed: nothing but an attack does that.
const RESETS: usize = 64;

/// Takes connections until the server drains, and those that were waiting then.
pub async fn accept(shared: Arc<Shared>, listener: TcpListener, connections: TaskTracker) {
    let router = Router::new(shared.clone());
    let places = Arc::new(Semaphore::new(shared.options.max_connections));
    loop {
        let accepted = tokio::select! {
            biased;
            accepted = listener.accept() => accepted,
            () = shared.reached(Phase::Draining) => break,
        };
        let Some(tcp) = usable(accepted).await else { continue };
        // Above the limit the connection is closed without a word: words would cost a handshake.
        let Ok(place) = places.clone().try_acquire_owned() else { continue };
        let (shared, router) = (shared.clone(), router.clone());
        connections.spawn(async move {
            let _place = place;
            connection(shared, router, tcp).await;
        });
    }
}

async fn usable(accepted: io::Result<(TcpStream, SocketAddr)>) -> Option<TcpStream> {
    let Ok((tcp, _)) = accepted else {
        tokio::time::sleep(EXHAUSTED).await;
        return None;
    };
    tcp.set_nodelay(true).ok().map(|()| tcp)
}

/// A connection from its handshake to its end.
async fn connection(shared: Arc<Shared>, router: Router, tcp: TcpStream) {
    let Some(config) = shared.tls.load_full() else {
        return serve(&shared, router, tcp).await;
    };
    let handshake = TlsAcceptor::from(config).accept(tcp);
    // A client that can't speak TLS, or shows a wrong certificate, is told so by the handshake.
    if let Ok(Ok(tls)) = tokio::time::timeout(HANDSHAKE, handshake).await {
        let certificate = tls.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let identity = certificate.and_then(|certificate| service::identity(certificate));
        serve(&shared, router.with_identity(identity), tls).await;
    }
}

/// Serves calls until the client leaves, the connection is too old, or the server drains.
async fn serve<I>(shared: &Shared, router: Router, io: I)
where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = builder(shared).serve_connection(TokioIo::new(io), router);
    tokio::pin!(connection);
    let age = jittered(shared.options.connection_age);
    tokio::select! {
        // How a connection ended is the client's affair.
        _ = connection.as_mut() => return,
        () = tokio::time::sleep(age) => {}
        () = shared.reached(Phase::Draining) => {}
    }
    connection.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(shared.options.grace_period, connection).await;
}

fn builder(shared: &Shared) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .keep_alive_interval(shared.options.keepalive)
        .keep_alive_timeout(KEEPALIVE_TIMEOUT)
        .max_concurrent_streams(STREAMS)
        .max_header_list_size(HEADERS)
        .max_pending_accept_reset_streams(RESETS)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW);
    builder
}

/// The age, give or take a tenth, so that clients which came together don't leave together.
fn jittered(age: Duration) -> Duration {
    let random = getrandom::u32().map_or(0.5, |number| f64::from(number) / f64::from(u32::MAX));
    age.mul_f64(0.9 + 0.2 * random)
}
