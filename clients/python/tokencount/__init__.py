"""Client of tokencount: how many tokens will the provider bill for this prompt?

`Client` and `AsyncClient` have three calls, `count`, `estimate` and `record`; `count_many` counts a
data set; `conversation` gives an object that remembers what the server knows and sends only what is
new. Answers are the messages of the contract, `tokencount.v1`.
"""

from tokencount.aio import AsyncClient, AsyncConversation
from tokencount.bulk import Counted
from tokencount.client import Client, Conversation
from tokencount.errors import TokenCountError
from tokencount.requests import FormatName

__all__ = [
    "AsyncClient",
    "AsyncConversation",
    "Client",
    "Conversation",
    "Counted",
    "FormatName",
    "TokenCountError",
]
