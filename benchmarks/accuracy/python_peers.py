"""Counts chats with other Python libraries, in their own environment: a chat a line in, counts a line out.

A line in is `{"model", "messages", "tools", "tool_choice"}` in OpenAI's form, a line out is
`{"LiteLLM", "cookbook"}`: tokens, or null where the counter gave no number. Nothing is fetched: what
LiteLLM would take from a hub it replaces by one of OpenAI's vocabularies.
"""

# pyright: basic, reportMissingImports=false

import json
import sys


def main() -> None:
    counters = {"LiteLLM": _litellm, "cookbook": _cookbook}
    for line in sys.stdin:
        chat = json.loads(line)
        counts = {}
        for name, count in counters.items():
            try:
                counts[name] = count(chat)
            except Exception:  # noqa: BLE001  (whatever a counter raises, it has no number)
                counts[name] = None
        print(json.dumps(counts), flush=True)


def _litellm(chat: dict) -> int:
    import litellm

    choice = chat["tool_choice"]
    takes = choice == "none" or (isinstance(choice, dict) and "function" in choice)
    return litellm.token_counter(
        model=chat["model"],
        messages=chat["messages"],
        tools=chat["tools"] or None,
        tool_choice=choice if takes else None,
    )


def _cookbook(chat: dict) -> int:
    import cookbook  # beside this file
    import tiktoken

    model = chat["model"].rpartition("/")[2]
    try:
        encoding = tiktoken.encoding_for_model(model)
    except KeyError:
        encoding = tiktoken.get_encoding("o200k_base")
    return cookbook.tokens(
        lambda text: len(encoding.encode_ordinary(text)), model, chat["messages"], chat["tools"]
    )


if __name__ == "__main__":
    main()
