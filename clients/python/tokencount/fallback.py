"""A local upper bound from the text alone, for when no server can be reached.

No vocabulary has more than one token per byte of UTF-8, so the prompt's own JSON bounds the tokens
of its text. What a provider adds is bounded by generous constants. What isn't in the prompt
(pictures, stored history, tools that run at the provider) has no local bound: then there is no
answer, and the caller gets the error.
"""

import json
import math
import unicodedata
from collections.abc import Iterator, Mapping
from typing import cast

from google.protobuf.json_format import MessageToDict

from tokencount.errors import TokenCountError
from tokencount.v1 import SOURCE_CHARACTERS, Count, Prompt, ProviderRequest, Warning

# `tokens` is only a guess: bytes per token of English prose and of CJK are both about this.
_BYTES_PER_TOKEN = 3.5
# The longest hidden prompt that is known, Anthropic's for tools, is below 1,000 tokens.
_PROMPT_OVERHEAD = 2048
# A provider writes messages, declarations and numbers in its own words: at most this many tokens
# for each mark of the JSON, such as the comma after a number that becomes a decimal fraction.
_TOKENS_PER_MARK = 4
_MARKS = "{[,:"

# Values of these are the program's own data, in which no provider looks for pictures.
_DATA_FIELDS = frozenset(
    {"parameters", "parametersJsonSchema", "input_schema", "inputSchema", "schema", "json_schema"}
    | {"responseSchema", "responseJsonSchema", "args", "arguments", "metadata"}
)
# Fields that stand for something which isn't in the prompt, by provider.
_HIDDEN_FIELDS = frozenset(
    {"previous_response_id", "conversation", "prompt", "web_search_options", "audio"}  # OpenAI
    | {"container", "mcp_servers"}  # Anthropic
    | {"cachedContent", "cached_content", "inlineData", "inline_data", "fileData", "file_data"}
    | {"googleSearch", "google_search", "googleSearchRetrieval", "urlContext", "url_context"}
    | {"codeExecution", "code_execution", "computerUse", "googleMaps", "fileSearch"}  # Gemini
    | {"image", "video", "document", "guardrailConfig", "promptVariables", "systemTool"}  # Bedrock
    | {"file"}  # the contract's own, with some of the above
)
# The only types of parts, items and tools that are wholly in the prompt.
_VISIBLE_TYPES = frozenset(
    {"text", "input_text", "output_text", "refusal", "message", "function", "function_call"}
    | {"function_call_output", "tool_use", "tool_result", "thinking", "ephemeral", "custom"}
    | {"auto", "any", "tool", "none", "json_object", "json_schema"}
    | {"enabled", "disabled", "adaptive"}
)


def instead_of(error: TokenCountError, prompt: Prompt | ProviderRequest) -> Count:
    """Answer with a local bound where no server did.

    Of the answer, `tokens`, `upper_bound`, `estimated_tokens`, `source` and one warning with the
    code "local_fallback" are set.

    Raises:
        TokenCountError: `error` itself, if a server answered or the prompt has no local bound.

    """
    text = _visible_text(prompt) if error.unreachable else None
    if text is None:
        raise error
    # Some vocabularies normalize first, which makes some letters longer: the Arabic ligature U+FDFA
    # becomes eighteen.
    size = max(_size(text), _size(unicodedata.normalize("NFKC", text)))
    tokens = math.ceil(size / _BYTES_PER_TOKEN)
    overhead = _PROMPT_OVERHEAD + _TOKENS_PER_MARK * sum(map(text.count, _MARKS))
    warning = Warning(
        code="local_fallback", message="no server was reached: this is a bound from the text's size"
    )
    return Count(
        tokens=tokens,
        upper_bound=size + overhead,
        estimated_tokens=tokens,
        source=SOURCE_CHARACTERS,
        warnings=[warning],
    )


def _visible_text(prompt: Prompt | ProviderRequest) -> str | None:
    """Give the prompt as JSON; nothing if something that is billed isn't in it."""
    try:
        if isinstance(prompt, Prompt):
            value: object = MessageToDict(prompt, preserving_proto_field_name=True)
        else:
            value = json.loads(prompt.body)
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    # References may be written out many times, so the text doesn't bound what they become.
    hidden = "$ref" in text or any(_is_hidden(node) for node in _objects(value))
    return None if hidden else text


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    """Give every object outside the program's own data."""
    todo = [value]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            fields = cast(dict[str, object], node)
            yield fields
            todo.extend(item for key, item in fields.items() if not _is_data(key, item))
        elif isinstance(node, list):
            todo.extend(cast(list[object], node))


def _is_data(field: str, value: object) -> bool:
    # A call's input is data (Anthropic, Bedrock), a request's is a list (Responses).
    return field in _DATA_FIELDS or (field == "input" and isinstance(value, dict))


def _is_hidden(fields: Mapping[str, object]) -> bool:
    kind = fields.get("type", "text")
    # Responses: an item that is only an id refers to a stored one.
    is_reference = "id" in fields and fields.keys() <= {"id", "type"}
    return is_reference or kind not in _VISIBLE_TYPES or not _HIDDEN_FIELDS.isdisjoint(fields)
