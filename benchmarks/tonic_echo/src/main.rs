//! A tonic server that decodes a request, adds up the lengths of its texts, and encodes the sum:
//! what carrying a call costs where nothing is counted.

use std::pin::Pin;

use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::{Request, Response, Status, Streaming};
use wire::token_counter_service_server::{TokenCounterService, TokenCounterServiceServer};

#[allow(clippy::all, clippy::pedantic)]
mod wire {
    tonic::include_proto!("tokencount.v1");
}

struct Echo;

#[tonic::async_trait]
impl TokenCounterService for Echo {
    async fn count_messages(
        &self,
        request: Request<wire::CountMessagesRequest>,
    ) -> Result<Response<wire::CountMessagesResponse>, Status> {
        use wire::count_messages_request::Prompt;
        let length = match request.into_inner().prompt {
            Some(Prompt::Typed(prompt)) => typed(&prompt),
            Some(Prompt::ProviderRequest(request)) => request.body.len(),
            None => 0,
        };
        Ok(Response::new(wire::CountMessagesResponse { count: Some(count(length)) }))
    }

    type CountMessagesStreamStream =
        Pin<Box<dyn Stream<Item = Result<wire::CountMessagesStreamResponse, Status>> + Send>>;

    async fn count_messages_stream(
        &self,
        request: Request<Streaming<wire::CountMessagesStreamRequest>>,
    ) -> Result<Response<Self::CountMessagesStreamStream>, Status> {
        let answers = request
            .into_inner()
            .map(|request| Ok(wire::CountMessagesStreamResponse { id: request?.id, result: None }));
        Ok(Response::new(Box::pin(answers)))
    }

    async fn estimate_conversation(
        &self,
        request: Request<wire::EstimateConversationRequest>,
    ) -> Result<Response<wire::EstimateConversationResponse>, Status> {
        use wire::estimate_conversation_request::Prompt;
        let length = match request.into_inner().prompt {
            Some(Prompt::Typed(prompt)) => typed(&prompt),
            Some(Prompt::ProviderRequest(request)) => request.body.len(),
            None => 0,
        };
        Ok(Response::new(wire::EstimateConversationResponse { count: Some(count(length)) }))
    }

    async fn record_actual(
        &self,
        _: Request<wire::RecordActualRequest>,
    ) -> Result<Response<wire::RecordActualResponse>, Status> {
        Ok(Response::new(wire::RecordActualResponse::default()))
    }
}

fn typed(prompt: &wire::Prompt) -> usize {
    let parts = prompt.messages.iter().flat_map(|message| &message.parts);
    parts
        .map(|part| match &part.content {
            Some(wire::part::Content::Text(text)) => text.len(),
            _ => 0,
        })
        .sum()
}

fn count(length: usize) -> wire::Count {
    let tokens = u32::try_from(length).unwrap_or(u32::MAX);
    wire::Count { tokens, upper_bound: tokens, ..wire::Count::default() }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("echo listening on {}", listener.local_addr()?);
    tonic::transport::Server::builder()
        .tcp_nodelay(true)
        .add_service(TokenCounterServiceServer::new(Echo).max_decoding_message_size(32 << 20))
        .serve_with_incoming(TcpListenerStream::new(listener))
        .await?;
    Ok(())
}
