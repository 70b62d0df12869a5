"""The asyncio client behind the interface of the other one, so that every test runs on both."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, cast

from tokencount import AsyncClient, Client


class Blocking:
    """Waits for whatever coroutine a method of `target` returns."""

    def __init__(self, target: object, runner: asyncio.Runner) -> None:
        self._target = target
        self._runner = runner

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._target, name)
        return self._wait(attribute) if callable(attribute) else attribute

    def _wait(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            if inspect.isasyncgen(result):
                return self._each(result)
            if inspect.isawaitable(result):
                return self._runner.run(_await(result))
            return Blocking(result, self._runner) if method.__name__ == "conversation" else result

        return call

    def _each(self, values: AsyncGenerator[Any, Any]) -> Generator[Any]:
        try:
            while True:
                try:
                    yield self._runner.run(_await(anext(values)))
                except StopAsyncIteration:
                    return
        finally:
            self._runner.run(_await(values.aclose()))

    def __enter__(self) -> "Blocking":
        self._runner.run(_await(self._target.__aenter__()))  # type: ignore[attr-defined]
        return self

    def __exit__(self, *exception: object) -> None:
        self._runner.run(_await(self._target.__aexit__(*exception)))  # type: ignore[attr-defined]
        self._runner.close()


async def _await(result: Any) -> Any:
    return await result


def blocking_async_client(target: str, **settings: Any) -> Client:
    """An `AsyncClient` to be used as a `Client`."""
    runner = asyncio.Runner()

    async def connect() -> AsyncClient:
        return AsyncClient(target, **settings)

    return cast(Client, Blocking(runner.run(connect()), runner))
