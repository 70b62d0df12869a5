"""What a conversation holds, and how much of it the server already knows."""

from collections.abc import Mapping, Sequence

from tokencount.requests import FORMATS, MESSAGES, FormatName, Object, json_bytes
from tokencount.v1 import ProviderRequest

# Instructions that lead a list of messages replace those of the prefix, so they can't be new ones.
_INSTRUCTORS = frozenset({"system", "developer"})


class Transcript:
    """A provider's request body that grows, beside the prefix key of what the server knows."""

    def __init__(self, body: Object, format: FormatName, model: str) -> None:
        """Start from a body, whose list of messages is copied.

        Raises:
            ValueError: the messages aren't a list.

        """
        self._format: FormatName = format
        self._model = model
        self._key = b""
        self._known = 0
        self._known_preamble = b""
        self._field = MESSAGES[format]
        messages = body.get(self._field, [])
        if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
            raise ValueError(f"{self._field} must be a list")
        self.messages: list[Object] = list(messages)  # pyright: ignore[reportUnknownArgumentType]
        self.body: dict[str, object] = {**body, self._field: self.messages}

    def request(self) -> tuple[ProviderRequest, bytes]:
        """Give the new messages and their base, or the whole prompt where there is none."""
        new = self.messages[self._known :]
        leads = new[0].get("role") if new else None
        if not self._key or leads in _INSTRUCTORS or self._preamble() != self._known_preamble:
            return self.whole(), b""
        return self._request({self._field: new}), self._key

    def whole(self) -> ProviderRequest:
        """Give the whole prompt."""
        return self._request(self.body)

    def know(self, key: bytes) -> None:
        """Take note of the key of everything so far; an empty one says nothing."""
        if key:
            self._key = key
            self._known = len(self.messages)
            self._known_preamble = self._preamble()

    def forget(self) -> None:
        """Take it that the server knows nothing."""
        self._key = b""

    def add(self, messages: Object | Sequence[Object]) -> None:
        """Append one message or several."""
        self.messages.extend([messages] if isinstance(messages, Mapping) else messages)

    def _request(self, body: Object) -> ProviderRequest:
        model = self._model or str(self.body.get("model", ""))
        return ProviderRequest(format=FORMATS[self._format], model=model, body=json_bytes(body))

    def _preamble(self) -> bytes:
        return json_bytes({key: self.body[key] for key in self.body if key != self._field})
