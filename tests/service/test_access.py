"""Who may call, and as whom: tokens and certificates over the wire, for both transports."""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
import trustme
from conftest import Start
from grpc_health.v1 import health_pb2
from grpc_health.v1.health_pb2_grpc import HealthStub
from support import PATIENCE, Daemon, error_of, until

from tokencount.v1 import prompt_pb2 as pb
from tokencount.v1 import token_counter_service_pb2 as wire
from tokencount.v1.token_counter_service_pb2_grpc import TokenCounterServiceStub
from tokencount.v1.usage_pb2 import STATUS_SUCCEEDED
from tokencountd import cli

TRANSPORTS = pytest.mark.parametrize("transport", ["native", "grpcio"])
UNAUTHENTICATED = grpc.StatusCode.UNAUTHENTICATED
PROMPT = pb.Prompt(model="gpt-4o", messages=[pb.Message(role=pb.ROLE_USER, parts=[pb.Part(text="hello")])])


def new_token(file: Path, capsys: Any, tenant: str, *flags: str) -> str:
    assert cli.main(["token", "new", tenant, "--file", str(file), *flags]) == 0
    return capsys.readouterr().out.strip()


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


def estimate(stub: TokenCounterServiceStub, token: str, **fields: Any) -> wire.Count:
    request = wire.EstimateConversationRequest(typed=PROMPT, **fields)
    return stub.EstimateConversation(request, metadata=bearer(token), timeout=PATIENCE).count


def record(stub: TokenCounterServiceStub, token: str, tokens: int) -> wire.RecordActualResponse:
    request = wire.RecordActualRequest(typed=PROMPT, status=STATUS_SUCCEEDED)
    request.usage.input_tokens = tokens
    return stub.RecordActual(request, metadata=bearer(token), timeout=PATIENCE)


@TRANSPORTS
def test_tokens(start: Start, tmp_path: Path, capsys: Any, transport: str) -> None:
    file = tmp_path / "tokens.toml"
    good = new_token(file, capsys, "acme")
    expired = new_token(file, capsys, "acme", "--expires", "0s")
    assert good not in file.read_text()
    daemon = start("--transport", transport, "--tokens", str(file))
    other = "tc_" + "a" * 12 + "_" + "b" * 43
    refused: list[tuple[tuple[str, str], ...]] = [
        (),
        bearer(""),
        bearer(other),
        bearer(expired),
        bearer(good[:-1]),
        bearer(good + "x"),
        (("authorization", f"Basic {good}"),),
    ]
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        assert estimate(stub, good).tokens
        seen: set[object] = set()
        for metadata in refused:
            request = wire.CountMessagesRequest(typed=PROMPT)
            error, details = error_of(lambda: stub.CountMessages(request, metadata=metadata))  # noqa: B023
            seen.add((error.code(), error.details(), details[0].reason))
        # One status for all of them: it doesn't say what was wrong.
        assert {row[0] for row in seen} == {UNAUTHENTICATED}  # type: ignore[index]
        assert len(seen) == 1
        health: Any = HealthStub(channel)
        assert health.Check(health_pb2.HealthCheckRequest()).status == health_pb2.HealthCheckResponse.SERVING


@TRANSPORTS
def test_tenants_see_nothing_of_each_other(start: Start, tmp_path: Path, capsys: Any, transport: str) -> None:
    file = tmp_path / "tokens.toml"
    ours, theirs = (new_token(file, capsys, tenant) for tenant in ("ours", "theirs"))
    also_ours = new_token(file, capsys, "ours")
    daemon = start("--transport", transport, "--tokens", str(file))
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        key = record(stub, ours, 777).prefix_key
        assert estimate(stub, also_ours).tokens == 777
        assert estimate(stub, theirs).source == wire.SOURCE_ESTIMATED
        made_up = bytes(reversed(key))
        statuses: set[object] = set()
        for base in (key, made_up):
            error, details = error_of(lambda: estimate(stub, theirs, base=base))  # noqa: B023
            statuses.add((error.code(), error.details(), details[0].reason))
        assert statuses == {(grpc.StatusCode.FAILED_PRECONDITION, error.details(), "PREFIX_UNKNOWN")}
        # What one tenant records is not another's bill.
        record(stub, theirs, 11)
        assert estimate(stub, ours).tokens == 777


@TRANSPORTS
def test_tokens_are_read_again(start: Start, tmp_path: Path, capsys: Any, transport: str) -> None:
    file = tmp_path / "tokens.toml"
    first = new_token(file, capsys, "acme")
    daemon = start("--transport", transport, "--tokens", str(file))
    with daemon.channel() as channel:
        stub = TokenCounterServiceStub(channel)
        file.write_text("[[token]]\nnonsense")
        daemon.event("files not reloaded")
        assert estimate(stub, first).tokens
        file.unlink()
        second = new_token(file, capsys, "acme")
        daemon.event("files reloaded")
        assert estimate(stub, second).tokens
        assert error_of(lambda: estimate(stub, first))[0].code() == UNAUTHENTICATED


class Certificates:
    """A server's and its clients' certificates, as files."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)
        self.authority, self.clients, self.strangers = trustme.CA(), trustme.CA(), trustme.CA()
        self.clients.cert_pem.write_to_path(str(directory / "clients.pem"))
        self.issue()

    def issue(self) -> None:
        """A new certificate of the server, moved into place at once as cluster managers do."""
        issued = self.authority.issue_cert("localhost", "127.0.0.1")
        for name, blob in (("cert.pem", issued.cert_chain_pems[0]), ("key.pem", issued.private_key_pem)):
            fresh = self.directory / f"{name}.new"
            blob.write_to_path(str(fresh))
            fresh.replace(self.directory / name)

    def flags(self, *, mutual: bool) -> list[str]:
        paths = [
            "--tls-certificate",
            str(self.directory / "cert.pem"),
            "--tls-key",
            str(self.directory / "key.pem"),
        ]
        return [*paths, "--tls-client-ca", str(self.directory / "clients.pem")] if mutual else paths

    def credentials(self, client: trustme.LeafCert | None = None) -> grpc.ChannelCredentials:
        root = self.authority.cert_pem.bytes()
        if client is None:
            return grpc.ssl_channel_credentials(root)
        chain = b"".join(pem.bytes() for pem in client.cert_chain_pems)
        return grpc.ssl_channel_credentials(root, client.private_key_pem.bytes(), chain)


def secure(daemon: Daemon, credentials: grpc.ChannelCredentials) -> grpc.Channel:
    # No two channels share a connection, so that each makes its own handshake.
    return grpc.secure_channel(daemon.address, credentials, [("grpc.use_local_subchannel_pool", 1)])


@TRANSPORTS
def test_tls(start: Start, tmp_path: Path, transport: str) -> None:
    certificates = Certificates(tmp_path / "tls")
    daemon = start("--transport", transport, *certificates.flags(mutual=False))
    with secure(daemon, certificates.credentials()) as channel:
        assert estimate(TokenCounterServiceStub(channel), "ignored").tokens
    with daemon.channel() as channel:
        request = wire.CountMessagesRequest(typed=PROMPT)
        error, _ = error_of(lambda: TokenCounterServiceStub(channel).CountMessages(request, timeout=PATIENCE))
        assert error.code() == grpc.StatusCode.UNAVAILABLE


@TRANSPORTS
def test_a_client_certificate_names_the_tenant(start: Start, tmp_path: Path, transport: str) -> None:
    certificates = Certificates(tmp_path / "tls")
    daemon = start("--transport", transport, *certificates.flags(mutual=True))
    ours, theirs = (certificates.clients.issue_cert(f"{name}.example") for name in ("ours", "theirs"))
    count = wire.EstimateConversationRequest(typed=PROMPT)
    bill = wire.RecordActualRequest(typed=PROMPT, status=STATUS_SUCCEEDED)
    bill.usage.input_tokens = 777
    with secure(daemon, certificates.credentials(ours)) as channel:
        stub = TokenCounterServiceStub(channel)
        assert stub.RecordActual(bill, timeout=PATIENCE).learned
        assert stub.EstimateConversation(count).count.tokens == 777
    with secure(daemon, certificates.credentials(theirs)) as channel:
        stub = TokenCounterServiceStub(channel)
        assert stub.EstimateConversation(count, timeout=PATIENCE).count.tokens != 777


@TRANSPORTS
def test_a_wrong_certificate_or_none_is_refused(start: Start, tmp_path: Path, transport: str) -> None:
    certificates = Certificates(tmp_path / "tls")
    daemon = start("--transport", transport, *certificates.flags(mutual=True))
    stranger = certificates.strangers.issue_cert("ours.example")
    for client in (None, stranger):
        with secure(daemon, certificates.credentials(client)) as channel:
            stub = TokenCounterServiceStub(channel)
            error, _ = error_of(lambda: estimate(stub, "none"))  # noqa: B023
            assert error.code() == grpc.StatusCode.UNAVAILABLE


def test_a_token_or_a_certificate(start: Start, tmp_path: Path, capsys: Any) -> None:
    certificates = Certificates(tmp_path / "tls")
    file = tmp_path / "tokens.toml"
    token = new_token(file, capsys, "acme")
    daemon = start("--tokens", str(file), *certificates.flags(mutual=True))
    client = certificates.clients.issue_cert("ours.example")
    request = wire.CountMessagesRequest(typed=PROMPT)
    with secure(daemon, certificates.credentials()) as channel:
        stub = TokenCounterServiceStub(channel)
        assert estimate(stub, token).tokens
        assert error_of(lambda: stub.CountMessages(request))[0].code() == UNAUTHENTICATED
    with secure(daemon, certificates.credentials(client)) as channel:
        stub = TokenCounterServiceStub(channel)
        assert stub.CountMessages(request, timeout=PATIENCE).count.tokens
        assert error_of(lambda: estimate(stub, token + "x"))[0].code() == UNAUTHENTICATED


@TRANSPORTS
def test_certificates_are_read_again(start: Start, tmp_path: Path, transport: str) -> None:
    certificates = Certificates(tmp_path / "tls")
    daemon = start("--transport", transport, *certificates.flags(mutual=False))
    with secure(daemon, certificates.credentials()) as channel:
        assert estimate(TokenCounterServiceStub(channel), "").tokens
        certificates.authority = trustme.CA()
        certificates.issue()
        daemon.event("files reloaded")
        # Connections that were made before stay.
        assert estimate(TokenCounterServiceStub(channel), "").tokens

    def answers() -> bool:
        with secure(daemon, certificates.credentials()) as channel:
            try:
                return estimate(TokenCounterServiceStub(channel), "").tokens > 0
            except grpc.RpcError:
                return False

    until(answers)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--listen", "0.0.0.0:0"], "anyone could call"),
        (["--listen", "[::]:0"], "anyone could call"),
        (["--tls-certificate", "x"], "one needs the other"),
        (["--tls-client-ca", "x"], "needs --tls-certificate"),
        (["--tokens", "/nowhere"], "--tokens /nowhere: No such file"),
        (["--allow-anonymous", "maybe"], "takes true or false"),
        (["--transport", "pigeon"], "takes native or grpcio"),
    ],
)
def test_settings_that_are_refused(start: Start, flags: list[str], said: str) -> None:
    daemon = start(*flags)
    assert daemon.wait() == 2
    assert said in daemon.log.read_text()


def test_everywhere_when_told_so(start: Start) -> None:
    daemon = start("--listen", "0.0.0.0:0", "--allow-anonymous")
    assert daemon.address
    assert daemon.stop() == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("token = 7", "not iterable"),
        ("[[token]]\nid = 'a'", "a token has no sha256"),
        ("[[token]]\ntenant='a'\nid='a'\nsha256='00'", "takes 64 hexadecimal digits"),
        ("[[token]]\ntenant='a'\nid='a'\nsha256='xyz'", "fromhex"),
        (f"[[token]]\ntenant='a'\nid='a'\nsha256='{'0' * 64}'\nexpires='soon'", "takes a time"),
        (f"[[token]]\ntenant='a'\nid='a'\nsha256='{'0' * 64}'\n" * 2, "two tokens have one id"),
        ("[[token", "--tokens"),
    ],
)
def test_files_of_tokens_that_are_refused(start: Start, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(text)
    daemon = start("--tokens", str(file))
    assert daemon.wait() == 2
    assert said in daemon.log.read_text()


def test_the_file_of_a_new_token(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "tokens.toml"
    token = new_token(file, capsys, "acme", "--expires", "90d")
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert hashlib.sha256(token.split("_", 2)[2].encode()).hexdigest() in text
    end = datetime.fromisoformat(text.split("expires = ")[1].strip())
    assert abs(end - datetime.now(UTC) - timedelta(days=90)) < timedelta(minutes=1)
