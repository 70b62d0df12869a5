"""How both clients reach a server: retries, credentials, the token, what to do without one."""

import abc
import json
from collections.abc import Sequence
from typing import Literal

import grpc

from tokencount.errors import TokenCountError
from tokencount.fallback import instead_of
from tokencount.v1 import Count, Prompt, ProviderRequest

Fallback = Literal["characters"]
"""What to answer with when no server can be reached: `"characters"` is a local upper bound."""

_SERVICE_CONFIG = {
    "methodConfig": [
        {
            "name": [{"service": "tokencount.v1.TokenCounterService"}],
            # All calls may be repeated without harm, RecordActual too.
            "retryPolicy": {
                "maxAttempts": 4,
                "initialBackoff": "0.05s",
                "maxBackoff": "1s",
                "backoffMultiplier": 3,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}

OPTIONS: Sequence[tuple[str, str | int]] = (
    ("grpc.service_config", json.dumps(_SERVICE_CONFIG)),
    # The server limits the size of a request; per-message counts may outgrow the default of 4 MiB.
    ("grpc.max_receive_message_length", -1),
)
"""Options of the channel."""


class Connection(abc.ABC):
    """What both clients are given."""

    def __init__(
        self,
        target: str,
        *,
        credentials: grpc.ChannelCredentials | None = None,
        token: str = "",
        timeout: float = 5.0,
        compression: grpc.Compression | None = None,
        fallback: Fallback | None = None,
    ) -> None:
        """Connect to a server at the first call.

        Args:
            target: where it is, such as "localhost:50051" or "dns:///tokencount:50051".
            credentials: for TLS, `grpc.ssl_channel_credentials(root_certificates, private_key,
                certificate_chain)`, the latter two for a client certificate. None is plain text.
            token: bearer token sent with every call; over plain text anyone on the way can read it.
            timeout: seconds that a call may take in all, retries included.
            compression: of requests, such as `grpc.Compression.Gzip`.
            fallback: "characters" answers `count` and `estimate` with a local upper bound when no
                server can be reached, where the prompt has one; None raises `TokenCountError`.

        """
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        self._timeout = timeout
        self._fallback = fallback
        self._connect(target, credentials, compression)

    @abc.abstractmethod
    def _connect(
        self,
        target: str,
        credentials: grpc.ChannelCredentials | None,
        compression: grpc.Compression | None,
    ) -> None:
        """Open the channel."""

    def local_count(self, error: TokenCountError, prompt: Prompt | ProviderRequest) -> Count:
        """Answer for a server that can't be reached, if that was asked for; else raise `error`."""
        if self._fallback is None:
            raise error
        return instead_of(error, prompt)
