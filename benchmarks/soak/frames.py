"""HTTP/2 as far as it takes to misuse it: frames written by hand (RFC 9113, 7541).

A library would not write what is tried here, or not a hundred thousand times.
"""

import socket
import struct
from collections.abc import Iterator
from types import TracebackType
from typing import NamedTuple, Self

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM = ACK = 1
END_HEADERS = 4
CANCEL = 8
PATIENCE = 20.0
LARGEST_FRAME = 16 << 10

SERVICE = "tokencount.v1.TokenCounterService"
_HEADER = struct.Struct(">HBBBI")


class Frame(NamedTuple):
    """A frame as it came."""

    kind: int
    flags: int
    stream: int
    payload: bytes


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """An encoded frame."""
    size = len(payload)
    return _HEADER.pack(size >> 8, size & 0xFF, kind, flags, stream) + payload


def request(stream: int, method: str, **headers: str) -> bytes:
    """HEADERS that open a call, which stays open. `grpc_encoding` is the header `grpc-encoding`."""
    fields = {
        ":method": "POST",
        ":scheme": "http",
        ":path": f"/{SERVICE}/{method}",
        ":authority": "127.0.0.1",
        "content-type": "application/grpc",
        "te": "trailers",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    block = b"".join(_literal(name) + _literal(value)[1:] for name, value in fields.items())
    return frame(HEADERS, END_HEADERS, stream, block)


def _literal(text: str) -> bytes:
    """A string of less than 127 bytes, after the octet of a field that is not to be indexed."""
    return bytes([0, len(text)]) + text.encode()


def message(stream: int, body: bytes, *, compressed: bool = False) -> bytes:
    """DATA with one gRPC message, in as many frames as it takes, which end the call's requests."""
    prefixed = struct.pack(">BI", compressed, len(body)) + body
    pieces = [prefixed[at : at + LARGEST_FRAME] for at in range(0, len(prefixed), LARGEST_FRAME)]
    frames = [frame(DATA, 0, stream, piece) for piece in pieces[:-1]]
    return b"".join([*frames, frame(DATA, END_STREAM, stream, pieces[-1])])


def reset(stream: int) -> bytes:
    """RST_STREAM, as of a caller that has lost interest."""
    return frame(RST_STREAM, 0, stream, struct.pack(">I", CANCEL))


class Connection:
    """A connection that has said what must be said first."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), PATIENCE)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._received = b""
        self.send(PREFACE + frame(SETTINGS, 0, 0))
        # The server's settings and its larger window come first, and hold from the acknowledgement.
        if not self.settled():
            raise ConnectionError("the server takes no connection")
        self.send(frame(SETTINGS, ACK, 0))

    def send(self, data: bytes) -> None:
        """Sends frames. Raises `OSError` if the server has closed the connection."""
        self._socket.sendall(data)

    def frames(self) -> Iterator[Frame]:
        """What the server sends, until it closes. Raises `TimeoutError` if it is silent."""
        while True:
            header = self._read(_HEADER.size)
            if header is None:
                return
            high, low, kind, flags, stream = _HEADER.unpack(header)
            payload = self._read(high << 8 | low)
            if payload is None:
                return
            yield Frame(kind, flags, stream, payload)

    def settled(self) -> bool:
        """Whether the server has dealt with everything sent so far; False if it closes instead."""
        self.send(frame(PING, 0, 0, bytes(8)))
        return any(one.kind == PING and one.flags & ACK for one in self.frames())

    def _read(self, size: int) -> bytes | None:
        while len(self._received) < size:
            try:
                piece = self._socket.recv(1 << 16)
            except ConnectionError:
                return None
            if not piece:
                return None
            self._received += piece
        data, self._received = self._received[:size], self._received[size:]
        return data

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
