//! From a request's path to what answers it: our methods, health, or reflection.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use http::{Request, Response};
use hyper::body::Incoming;
use tonic::body::Body;
use tonic::codegen::Service as _;
use tonic::service::Routes;
use tonic_health::pb::health_server::HealthServer;
use tonic_reflection::server::Builder;

use super::health::Health;
use super::{Shared, stream, unary};
use crate::engine::Rpc;

/// The contract, compiled by the build script.
const CONTRACT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/contract.binpb"));

type Answer = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

/// Answers the requests of one connection.
#[derive(Clone)]
pub struct Router {
    shared: Arc<Shared>,
    /// The tenant's name in the client certificate.
    identity: Option<Arc<str>>,
    others: Routes,
}

impl Router {
    /// For connections without a client certificate.
    pub fn new(shared: Arc<Shared>) -> Self {
        let health = HealthServer::new(Health::new(shared.phase.clone()));
        let others = with_reflection(Routes::new(health)).prepare();
        Self { shared, identity: None, others }
    }

    /// For a connection whose client has shown a certificate of that identity.
    pub fn with_identity(&self, identity: Option<String>) -> Self {
        Self { identity: identity.map(Arc::from), ..self.clone() }
    }
}

impl hyper::service::Service<Request<Incoming>> for Router {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Answer;

    fn call(&self, request: Request<Incoming>) -> Answer {
        let path = request.uri().path().strip_prefix('/').unwrap_or_default();
        let (shared, identity) = (self.shared.clone(), self.identity.clone());
        match Rpc::by_name(path) {
            Some(Rpc::CountMessagesStream) => {
                Box::pin(async move { Ok(stream::serve(shared, identity.as_deref(), request)) })
            }
            Some(rpc) => {
                Box::pin(async move { Ok(unary::serve(shared, identity, rpc, request).await) })
            }
            None => Box::pin(self.others.clone().call(request)),
        }
    }
}

/// Both versions: grpcurl and ghz ask for v1 first, older tools know v1alpha only.
fn with_reflection(routes: Routes) -> Routes {
    use tonic_reflection::pb::{v1, v1alpha};
    let builder = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(CONTRACT)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(v1::FILE_DESCRIPTOR_SET)
            .register_encoded_file_descriptor_set(v1alpha::FILE_DESCRIPTOR_SET)
            .include_reflection_service(false)
    };
    routes
        .add_service(builder().build_v1().expect("the descriptors are right"))
        .add_service(builder().build_v1alpha().expect("the descriptors are right"))
}
