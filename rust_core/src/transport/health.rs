//! `grpc.health.v1` of a server that serves from its start until it drains.
//!
//! tonic's own leaves a `Watch` open when the server drains, which would hold every shutdown for
//! the whole grace period. This one ends its watches with the last status.

use std::pin::Pin;

use futures_util::stream::{self, Stream, StreamExt};
use tokio::sync::watch;
use tonic::{Request, Response, Status};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse, health_server};

use super::Phase;

/// The services whose health is known; the empty name is the server as a whole.
const SERVICES: [&str; 2] = ["", "tokencount.v1.TokenCounterService"];

/// The health of the server.
pub struct Health {
    phase: watch::Receiver<Phase>,
}

impl Health {
    /// Serving as long as the server's phase says so.
    pub const fn new(phase: watch::Receiver<Phase>) -> Self {
        Self { phase }
    }

    fn has_ended(&self) -> bool {
        *self.phase.borrow() > Phase::Serving
    }
}

#[tonic::async_trait]
impl health_server::Health for Health {
    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn check(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        if !SERVICES.contains(&request.get_ref().service.as_str()) {
            return Err(Status::not_found("unknown service"));
        }
        Ok(Response::new(response(&request.get_ref().service, self.has_ended())))
    }

    async fn watch(
        &self,
        request: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        let service = request.into_inner().service;
        let mut phase = self.phase.clone();
        let ended = self.has_ended();
        let now = response(&service, ended);
        let end = async move {
            // Fails when the server is gone, which is as good as draining.
            drop(phase.wait_for(|phase| *phase > Phase::Serving).await);
            Ok(response(&service, true))
        };
        let end = stream::once(end).take(usize::from(!ended));
        Ok(Response::new(Box::pin(stream::iter([Ok(now)]).chain(end))))
    }
}

fn response(service: &str, draining: bool) -> HealthCheckResponse {
    let status = match draining {
        _ if !SERVICES.contains(&service) => ServingStatus::ServiceUnknown,
        true => ServingStatus::NotServing,
        false => ServingStatus::Serving,
    };
    HealthCheckResponse { status: status.into() }
}
