"""Values as people write them: sizes, times, addresses.

Every parser raises `ValueError`, whose text says what it takes.
"""

import math
import re
from urllib.parse import urlsplit

_SIZES = {"": 1, "b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40}
_TIMES = {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LEVELS = ("debug", "info", "warning", "error")


def _with_unit(text: str) -> tuple[float, str]:
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,9})?)\s*([A-Za-z]*)", text.strip(), re.ASCII)
    if match is None:
        raise ValueError
    return float(match[1]), match[2].lower()


def size(text: str) -> int:
    """Bytes, such as `4096`, `64MiB` or `1.5GiB`."""
    try:
        number, unit = _with_unit(text)
        value = int(number * _SIZES[unit])
    except (KeyError, ValueError):
        value = 0
    if not 0 < value < 1 << 63:
        raise ValueError("takes a size above 0 such as 4096, 64MiB or 1GiB")
    return value


def duration(text: str) -> float:
    """Seconds, such as `10`, `500ms`, `2m` or `30d`."""
    try:
        number, unit = _with_unit(text)
        return number * _TIMES[unit]
    except (KeyError, ValueError):
        raise ValueError("takes a time such as 500ms, 10s, 2m or 30d") from None


def positive(text: str) -> int:
    """A whole number from 1 to a million."""
    if not re.fullmatch(r"\d{1,7}", text, re.ASCII) or not 1 <= int(text) <= 1_000_000:
        raise ValueError("takes a whole number from 1 to 1000000")
    return int(text)


def ratio(text: str) -> float:
    """A share from 0 to 1."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise ValueError("takes a number from 0 to 1")
    return value


def address(text: str) -> str:
    """`HOST:PORT`, with an IPv6 host in brackets; the host may not be empty."""
    host, _, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    named = bool(host) and (bracketed or ":" not in host)
    if not named or not re.fullmatch(r"\d{1,5}", port, re.ASCII) or int(port) > 65535:
        raise ValueError("takes HOST:PORT such as 127.0.0.1:50051 or [::]:50051")
    return text


def url(text: str) -> str:
    """The address of a collector, with `http://` (in the clear) or `https://`."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("takes a URL such as http://localhost:4317")
    return text


def log_level(text: str) -> str:
    """The name of a log level."""
    if text.lower() not in _LEVELS:
        raise ValueError(f"takes one of {', '.join(_LEVELS)}")
    return text.lower()


def boolean(text: str) -> bool:
    """`true` or `false`."""
    if text.lower() not in ("true", "false"):
        raise ValueError("takes true or false")
    return text.lower() == "true"


def transport(text: str) -> str:
    """The name of a transport."""
    if text not in ("native", "grpcio"):
        raise ValueError("takes native or grpcio")
    return text
