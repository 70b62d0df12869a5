"""tokencountd: how many tokens will a model provider bill for a prompt?

In process: `Engine`. On a grpcio server of yours: `add_token_counter_to_server`. As a daemon:
`tokencountd serve`.
"""

from typing import TYPE_CHECKING, Any

from tokencountd._core import StatusError
from tokencountd.answers import Accuracy, Breakdown, Count, MessageCount, Record, Source, Warning
from tokencountd.engine import Engine
from tokencountd.prompt import (
    Audio,
    File,
    Image,
    Message,
    Prompt,
    Reasoning,
    ResponseSchema,
    Tool,
    ToolCall,
    ToolChoice,
    ToolResult,
    Usage,
    Video,
)

if TYPE_CHECKING:
    from tokencountd.mount import add_token_counter_to_server

__all__ = [
    "Accuracy",
    "Audio",
    "Breakdown",
    "Count",
    "Engine",
    "File",
    "Image",
    "Message",
    "MessageCount",
    "Prompt",
    "Reasoning",
    "Record",
    "ResponseSchema",
    "Source",
    "StatusError",
    "Tool",
    "ToolCall",
    "ToolChoice",
    "ToolResult",
    "Usage",
    "Video",
    "Warning",
    "add_token_counter_to_server",
]


def __getattr__(name: str) -> Any:
    # Imported when it is asked for: counting in process needs no gRPC.
    if name == "add_token_counter_to_server":
        from tokencountd.mount import add_token_counter_to_server

        return add_token_counter_to_server
    raise AttributeError(name)
