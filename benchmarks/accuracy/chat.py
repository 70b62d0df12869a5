"""Turns a provider's body into the chat form that other counters take: OpenAI's messages and tools.

None of them takes another provider's body, so this is what one would write to use them: texts stay
texts, calls and results become calls and results, thinking is text, pictures are data URLs, and
anything else is its JSON text. A response schema has no place: none of them takes one.
"""

# pyright: basic

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tokencountd.prompt import Format

Json = Any
Messages = Iterator[dict[str, Json]]


def chat(format: Format, model: str, body: Json) -> dict[str, Json]:
    """The body as `{"model", "messages", "tools", "tool_choice"}`."""
    messages, tools, choice = _READERS[format]
    return {
        "model": body.get("model") or model,
        "messages": list(messages(body)),
        "tools": list(tools(body)),
        "tool_choice": choice(body),
    }


def _openai_messages(body: Json) -> Messages:
    for message in body.get("messages") or []:
        yield {key: value for key, value in message.items() if value is not None}


def _openai_tools(body: Json) -> Iterator[Json]:
    yield from (tool for tool in body.get("tools") or [] if "function" in tool)
    yield from ({"type": "function", "function": function} for function in body.get("functions") or [])


def _responses_messages(body: Json) -> Messages:
    if instructions := body.get("instructions"):
        yield {"role": "system", "content": instructions}
    given = body.get("input") or []
    items: list[Json] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    for item in items:
        match item:
            case {"type": "function_call"}:
                yield _call(item.get("call_id"), item["name"], item["arguments"])
            case {"type": "function_call_output"}:
                yield _result(item.get("call_id"), item["output"])
            case {"type": "reasoning"}:
                texts = [part.get("text", "") for part in item.get("summary") or []]
                yield {"role": "assistant", "content": "\n".join(texts)}
            case {"role": role, "content": content}:
                yield {"role": role, "content": _content(content)}
            case _:
                yield {"role": "user", "content": _text(item)}


def _responses_tools(body: Json) -> Iterator[Json]:
    for tool in body.get("tools") or []:
        if tool.get("type") == "function":
            yield _tool(tool["name"], tool.get("description"), tool.get("parameters"))


def _responses_choice(body: Json) -> Json:
    choice = body.get("tool_choice")
    return _named(choice["name"]) if isinstance(choice, dict) and "name" in choice else choice


def _anthropic_messages(body: Json) -> Messages:
    if system := body.get("system"):
        yield {"role": "system", "content": _content(system)}
    for message in body.get("messages") or []:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        yield from _turn(message["role"], blocks, _anthropic_part)


def _anthropic_part(block: Json) -> tuple[str, Json]:
    match block:
        case {"type": "text", "text": text} | {"type": "thinking", "thinking": text}:
            return "text", text
        case {"type": "image", "source": {"data": data, "media_type": mime}}:
            return "image", f"data:{mime};base64,{data}"
        case {"type": "image", "source": {"url": url}}:
            return "image", url
        case {"type": "tool_use", "name": name, "input": given}:
            return "call", (block.get("id"), name, given)
        case {"type": "tool_result"}:
            return "result", (block.get("tool_use_id"), block.get("content") or "")
        case _:
            return "text", _text(block)


def _anthropic_tools(body: Json) -> Iterator[Json]:
    for tool in body.get("tools") or []:
        if "name" in tool:
            yield _tool(tool["name"], tool.get("description"), tool.get("input_schema"))


def _anthropic_choice(body: Json) -> Json:
    match body.get("tool_choice"):
        case {"type": "tool", "name": name}:
            return _named(name)
        case {"type": "any"}:
            return "required"
        case {"type": mode}:
            return mode
        case _:
            return None


def _gemini_messages(body: Json) -> Messages:
    if system := _field(body, "systemInstruction"):
        parts = system.get("parts") or [] if isinstance(system, dict) else [{"text": str(system)}]
        yield from _turn("system", parts, _gemini_part)
    contents = body.get("contents") or []
    for content in contents if isinstance(contents, list) else [contents]:
        role = "assistant" if content.get("role") == "model" else "user"
        yield from _turn(role, content.get("parts") or [], _gemini_part)


def _gemini_part(part: Json) -> tuple[str, Json]:
    if "text" in part:
        return "text", part["text"]
    if inline := _field(part, "inlineData"):
        return "image", f"data:{_field(inline, 'mimeType')};base64,{inline.get('data')}"
    if call := _field(part, "functionCall"):
        return "call", (call.get("id"), call.get("name"), call.get("args") or {})
    if result := _field(part, "functionResponse"):
        return "result", (result.get("id"), result.get("response"))
    return "text", _text(part)


def _gemini_tools(body: Json) -> Iterator[Json]:
    tools = body.get("tools") or []
    for tool in tools if isinstance(tools, list) else [tools]:
        for declared in _field(tool, "functionDeclarations") or []:
            schema = _field(declared, "parameters") or _field(declared, "parametersJsonSchema")
            yield _tool(declared.get("name"), declared.get("description"), schema)


def _gemini_choice(body: Json) -> Json:
    config = _field(_field(body, "toolConfig") or {}, "functionCallingConfig") or {}
    modes = {"ANY": "required", "NONE": "none", "AUTO": "auto"}
    return modes.get(str(config.get("mode")).upper())


def _converse_messages(body: Json) -> Messages:
    if system := body.get("system"):
        yield from _turn("system", system, _converse_part)
    for message in body.get("messages") or []:
        yield from _turn(message["role"], message.get("content") or [], _converse_part)


def _converse_part(block: Json) -> tuple[str, Json]:
    match block:
        case {"text": text} | {"reasoningContent": {"reasoningText": {"text": text}}}:
            return "text", text
        case {"image": {"format": kind, "source": {"bytes": data}}}:
            return "image", f"data:image/{kind};base64,{data}"
        case {"toolUse": call}:
            return "call", (call.get("toolUseId"), call["name"], call.get("input") or {})
        case {"toolResult": result}:
            return "result", (result.get("toolUseId"), result.get("content"))
        case {"cachePoint": _}:
            return "text", ""
        case _:
            return "text", _text(block)


def _converse_tools(body: Json) -> Iterator[Json]:
    for tool in (body.get("toolConfig") or {}).get("tools") or []:
        if spec := tool.get("toolSpec"):
            schema = (spec.get("inputSchema") or {}).get("json")
            yield _tool(spec["name"], spec.get("description"), schema)


def _converse_choice(body: Json) -> Json:
    match (body.get("toolConfig") or {}).get("toolChoice"):
        case {"tool": {"name": name}}:
            return _named(name)
        case {"any": _}:
            return "required"
        case {"auto": _}:
            return "auto"
        case _:
            return None


def _turn(role: str, parts: Iterable[Json], read: Callable[[Json], tuple[str, Json]]) -> Messages:
    """The messages of one turn: its results first, then its texts and pictures with its calls."""
    said: list[Json] = []
    calls: list[Json] = []
    for kind, value in map(read, parts):
        if kind == "result":
            yield _result(*value)
        elif kind == "call":
            calls += _call(*value)["tool_calls"]
        elif kind == "image":
            said.append({"type": "image_url", "image_url": {"url": value}})
        elif value:
            said.append({"type": "text", "text": value})
    if said or calls:
        message = {"role": role, "content": _plain(said)}
        yield {**message, "tool_calls": calls} if calls else message


def _content(content: Json) -> Json:
    """A text, or a list of texts and pictures."""
    if isinstance(content, str):
        return content
    parts: list[Json] = []
    for part in content:
        match part:
            case {"type": "input_image", "image_url": str(url)}:
                image = {"url": url, "detail": part.get("detail") or "auto"}
                parts.append({"type": "image_url", "image_url": image})
            case {"text": str(text)}:
                parts.append({"type": "text", "text": text})
            case _:
                parts.append({"type": "text", "text": _text(part)})
    return _plain(parts)


def _plain(parts: list[Json]) -> Json:
    """The text of a single part that is one, else the parts."""
    return parts[0]["text"] if len(parts) == 1 and parts[0]["type"] == "text" else parts


def _call(id: Json, name: Json, given: Json) -> dict[str, Json]:
    function = {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)}
    call = {"id": id or "", "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call]}


def _result(id: Json, output: Json) -> dict[str, Json]:
    return {"role": "tool", "tool_call_id": id or "", "content": _text(output)}


def _tool(name: Json, description: Json, schema: Json) -> Json:
    parameters = schema or {"type": "object", "properties": {}}
    function = {"name": name, "description": description or "", "parameters": parameters}
    return {"type": "function", "function": function}


def _named(name: str) -> Json:
    return {"type": "function", "function": {"name": name}}


def _text(value: Json) -> str:
    """A text, the texts of a list of parts, or JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, dict) and "text" in part for part in value):
        return "\n".join(str(part["text"]) for part in value)
    return json.dumps(value, ensure_ascii=False)


def _field(value: Json, name: str) -> Json:
    """A field of Gemini's, whose clients also write the names with underscores."""
    if name in value:
        return value[name]
    return value.get("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name))


def _own_choice(body: Json) -> Json:
    return body.get("tool_choice")


_GEMINI = (_gemini_messages, _gemini_tools, _gemini_choice)
_READERS: dict[
    Format,
    tuple[Callable[[Json], Messages], Callable[[Json], Iterator[Json]], Callable[[Json], Json]],
] = {
    "openai_chat": (_openai_messages, _openai_tools, _own_choice),
    "openai_responses": (_responses_messages, _responses_tools, _responses_choice),
    "anthropic": (_anthropic_messages, _anthropic_tools, _anthropic_choice),
    "gemini": _GEMINI,
    "gemini_vertex": _GEMINI,
    "bedrock_converse": (_converse_messages, _converse_tools, _converse_choice),
}
