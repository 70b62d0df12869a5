"""A tenant's part of the store, as the operator sets it."""

from conftest import Start
from support import error_of, scrape

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1 import usage_pb2
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub

PROMPTS = 200
"""More than fit into a quota of 16 KiB."""


def prompt(number: int) -> pb.Prompt:
    text = f"What is the weather on island number {number}?"
    return pb.Prompt(model="gpt-4o", messages=[pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text=text)])])


def test_above_its_quota_a_tenants_oldest_prefixes_are_forgotten(start: Start) -> None:
    daemon = start("--tenant-store-bytes", "16KiB", "--prometheus-listen", "127.0.0.1:0")
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        requests = [wire.EstimateConversationRequest(typed=prompt(n)) for n in range(PROMPTS)]
        keys = [stub.EstimateConversation(request).count.prefix_key for request in requests]
        usage = usage_pb2.Usage(input_tokens=20)
        # Acknowledged once everything before it is on disk, too.
        stub.RecordActual(
            wire.RecordActualRequest(base=keys[-1], status=usage_pb2.STATUS_SUCCEEDED, usage=usage)
        )
        assert stub.EstimateConversation(wire.EstimateConversationRequest(base=keys[-1])).count.tokens == 20
        oldest = wire.EstimateConversationRequest(base=keys[0])
        _, details = error_of(lambda: stub.EstimateConversation(oldest))
        assert details[0].reason == "PREFIX_UNKNOWN"
    samples = scrape(daemon.event("metrics page")["address"])
    removed = samples['tokencount_store_evictions_total{tokencount_reason="quota"}']
    assert removed > PROMPTS / 2
    assert samples["tokencount_store_tenants"] == 1
    assert daemon.stop() == 0
