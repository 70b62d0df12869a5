"""Prompts of a given shape in made-up English, the same in every run.

Text must look like text: a run of one letter or of random bytes costs a tokenizer something else.
"""

import json
import random
from typing import Any

from tokencount.v1 import FORMAT_OPENAI_CHAT, Message, Prompt, ProviderRequest, Role
from tokencount.v1.prompt_pb2 import Part

MODEL = "gpt-4o"

_OPENINGS = (
    "The greenhouse on the north slope",
    "Our night shift at the harbour",
    "A customer who rents two bicycles",
    "The second draft of the timetable",
    "Whoever keeps the bees this year",
    "The pump that was repaired in March",
    "An order of ceramic tiles",
    "The choir's rehearsal room",
)
_MIDDLES = (
    "needs about {n} litres more than we planned",
    "was moved to hall {n} without a notice",
    "has waited {n} hours for an answer",
    "returned invoice {n} because the address was wrong",
    "sold {n} tickets before noon",
    "reports an error with code {n} after every restart",
    "kept {n} of the jars that broke",
)
_ENDINGS = (
    ", so please check it before Friday.",
    "; nobody could say why.",
    " (see the photographs in the shared folder).",
    ", and the neighbours were glad about it!",
    ". What would you suggest?",
    ", which is less than last winter's figure.",
)


def text(source: random.Random, size: int) -> str:
    """Sentences of `size` bytes in all."""
    sentences: list[str] = []
    while sum(map(len, sentences)) + len(sentences) <= size:
        middle = source.choice(_MIDDLES).format(n=source.randrange(2, 9000))
        sentences.append(f"{source.choice(_OPENINGS)} {middle}{source.choice(_ENDINGS)}")
    return " ".join(sentences)[:size]


def messages(count: int, size: int, seed: int = 0) -> list[dict[str, str]]:
    """Messages of user and assistant in turns, each with `size` bytes of text."""
    # Not for secrets: the same texts in every run.
    source = random.Random(seed)
    return [
        {"role": "assistant" if number % 2 else "user", "content": text(source, size)}
        for number in range(count)
    ]


def body(turns: list[dict[str, str]]) -> dict[str, Any]:
    """A Chat Completions body with these messages."""
    return {"model": MODEL, "messages": turns}


def tools(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Functions with descriptions, and an object of three arguments each."""
    source = random.Random(seed)

    def argument(kind: str) -> dict[str, str]:
        return {"type": kind, "description": text(source, 60)}

    def function(number: int) -> dict[str, Any]:
        properties = {
            "place": argument("string"),
            "amount": argument("number"),
            "urgent": argument("boolean"),
        }
        parameters = {"type": "object", "properties": properties, "required": ["place"]}
        return {"name": f"act_{number}", "description": text(source, 120), "parameters": parameters}

    return [{"type": "function", "function": function(number)} for number in range(count)]


def typed(turns: list[dict[str, str]]) -> Prompt:
    """The contract's own form of the same messages."""
    roles = {"user": Role.ROLE_USER, "assistant": Role.ROLE_ASSISTANT}
    parts = [(roles[turn["role"]], [Part(text=turn["content"])]) for turn in turns]
    return Prompt(model=MODEL, messages=[Message(role=role, parts=content) for role, content in parts])


def provider_request(turns: list[dict[str, str]], model: str = MODEL) -> ProviderRequest:
    """The contract's form of such a body."""
    return of_body(body(turns), model)


def of_body(content: dict[str, Any], model: str = MODEL) -> ProviderRequest:
    """The contract's form of a Chat Completions body."""
    return ProviderRequest(format=FORMAT_OPENAI_CHAT, model=model, body=json.dumps(content).encode())
