"""Reflection, as grpcurl and ghz use it, in both of its versions."""

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection_pb2
from support import PATIENCE, SERVICE

VERSIONS = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")


def ask(
    channel: grpc.Channel, version: str, request: reflection_pb2.ServerReflectionRequest
) -> reflection_pb2.ServerReflectionResponse:
    call = channel.stream_stream(
        f"/{version}/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )
    return next(iter(call(iter([request]), timeout=PATIENCE)))


@pytest.mark.parametrize("version", VERSIONS)
def test_services_are_listed(channel: grpc.Channel, version: str) -> None:
    answer = ask(channel, version, reflection_pb2.ServerReflectionRequest(list_services=""))
    names = {service.name for service in answer.list_services_response.service}
    assert names == {SERVICE, "grpc.health.v1.Health", *VERSIONS}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("symbol", [SERVICE, f"{SERVICE}.CountMessages"])
def test_the_contract_is_given(channel: grpc.Channel, version: str, symbol: str) -> None:
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
    answer = ask(channel, version, request)
    files = [
        FileDescriptorProto.FromString(file) for file in answer.file_descriptor_response.file_descriptor_proto
    ]
    assert "tokencount/v1/token_counter_service.proto" in [file.name for file in files]


@pytest.mark.parametrize("symbol", ["nobody.Knows", f"{SERVICE}.Guess"])
def test_what_is_not_there_is_not_found(channel: grpc.Channel, symbol: str) -> None:
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol=symbol)
    # grpcio's library says so in the answer, tonic's by the status of the call.
    try:
        code = ask(channel, VERSIONS[0], request).error_response.error_code
    except grpc.RpcError as error:
        code = error.code().value[0]
    assert code == grpc.StatusCode.NOT_FOUND.value[0]
