"""Counts with other libraries, in their own environment: one order a line in, one answer a line out.

`peers.environ` says where the vocabularies are. An order is
`{"counter", "model", "prompts"}`, an answer is a `peers.Counted`.
"""

# pyright: basic, reportMissingImports=false

import json
import sys
import time


def main() -> None:
    counters = {"tiktoken": _tiktoken, "litellm": _litellm}
    for line in sys.stdin:
        order = json.loads(line)
        count = counters[order["counter"]]
        count(order["model"], [{"role": "user", "content": ""}])  # loads what it needs
        seconds, tokens = [], []
        cpu = time.process_time()
        for prompt in order["prompts"]:
            started = time.perf_counter()
            tokens.append(count(order["model"], prompt))
            seconds.append(time.perf_counter() - started)
        cpu = time.process_time() - cpu
        print(json.dumps({"cpu_seconds": cpu, "seconds": seconds, "tokens": tokens}), flush=True)


def _tiktoken(model: str, messages: list[dict[str, str]]) -> int:
    import tiktoken

    encoding = tiktoken.encoding_for_model(model)
    return sum(len(encoding.encode_ordinary(message["content"])) for message in messages)


def _litellm(model: str, messages: list[dict[str, str]]) -> int:
    import litellm

    return litellm.token_counter(model=model, messages=messages)


if __name__ == "__main__":
    main()
