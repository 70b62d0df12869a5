"""A tour of the service: starts a server of its own, asks it everything, and stops it.

    python tour.py

It counts a request of every provider's format, then plays a conversation of three turns and
reports what was billed after each, so that every answer shows what it rests on.
"""

import json
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from tokencount import Client
from tokencount.v1 import Count, Source

BODIES = Path(__file__).parent / "bodies"

# Each request body with the interface that it is sent through, and the model where the body has none.
REQUESTS = [
    ("openai_chat", "openai_chat", ""),
    ("openai_responses", "openai_responses", ""),
    ("anthropic", "anthropic", ""),
    ("gemini", "gemini", "gemini-2.5-flash"),
    ("gemini", "gemini_vertex", "gemini-2.5-flash"),
    ("bedrock_converse", "bedrock_converse", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
]

# What a provider might have billed and replied in the conversation: made up, but of the right size.
TURNS = [
    ("How do I keep basil alive indoors?", 18, "Light, water from below, and harvest the tips.", 14),
    ("How much light?", 43, "Six hours of sun, or a grow lamp for twelve.", 15),
    ("And in winter?", 69, "The lamp, and keep it above 15 degrees.", 13),
]


def main() -> None:
    """Start a server, show the tour, stop the server."""
    with tempfile.TemporaryDirectory() as data:
        command = shlex.split(os.environ.get("TOKENCOUNTD", "tokencountd"))
        arguments = ["serve", "--listen", "127.0.0.1:0", "--data-dir", data]
        server = subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[-1]
            print(f"A server listens on {address}.\n")
            with Client(address) as client:
                show_formats(client)
                show_conversation(client)
        finally:
            server.send_signal(signal.SIGTERM)
            status = server.wait(timeout=30)
        print(f"\nThe server was told to stop, and ended with status {status}.")


def show_formats(client: Client) -> None:
    """Count one request of every provider's format."""
    print("What a request will cost, before it is sent:\n")
    print(f"  {'format':<18}{'profile':<22}{'tokens':>7}{'at most':>9}  rests on")
    for name, interface, model in REQUESTS:
        body = json.loads((BODIES / f"{name}.json").read_text())
        count = client.count(body, interface, model)
        print(f"  {interface:<18}{count.profile:<22}{figures(count)}")


def show_conversation(client: Client) -> None:
    """Play three turns; after each the bill is recorded, so the next rests on a fact."""
    print("\nA conversation, each turn estimated before it is billed:\n")
    print(f"  {'turn':<40}{'tokens':>7}{'at most':>9}  rests on        billed")
    body = {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": []}
    conversation = client.conversation(body, "anthropic")
    for question, billed, answer, output in TURNS:
        conversation.add({"role": "user", "content": question})
        count = conversation.estimate()
        print(f"  {question:<40}{figures(count):<34}{billed:>6}")
        usage = {"input_tokens": billed, "output_tokens": output}
        conversation.record(usage, {"role": "assistant", "content": answer})
    # The last prompt that was billed is the body without the reply that followed.
    asked = {**conversation.body, "messages": messages_of(conversation.body)[:-1]}
    print(f"  {'(the last prompt again)':<40}{figures(client.estimate(asked, 'anthropic'))}")


def messages_of(body: dict[str, object]) -> list[object]:
    """The messages of an Anthropic body."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return messages


def figures(count: Count) -> str:
    """The estimate, its bound, and what they rest on."""
    source = Source.Name(count.source).removeprefix("SOURCE_").lower()
    known = f" ({count.known_tokens} known)" if count.known_tokens else ""
    return f"{count.tokens:>7}{count.upper_bound:>9}  {source}{known}"


if __name__ == "__main__":
    main()
