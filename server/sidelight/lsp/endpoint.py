"""The edge of our own methods: plain JSON in, records inside, plain JSON out, errors in words."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcMethodNotFound

from sidelight.core.errors import AgentError
from sidelight.core.record import Record
from sidelight.lsp.server import REQUEST_FAILED
from sidelight.wire.loose import mapping

MOST_PROBLEMS = 3

R = TypeVar("R", bound=Record)
Handler = Callable[[Any], Awaitable[Record | None]]


class Endpoint:
    """Methods by name, each with the record of its params and the handler that takes it."""

    def __init__(self, methods: Mapping[str, tuple[type[Record], Handler]]) -> None:
        self._methods = methods

    async def call(self, method: str, params: Any) -> Any:
        """Answer a request or take a notification.

        Raises JsonRpcException: -32602 with what is wrong with the params, -32803 with the
        sentence of our own error.
        """
        if method not in self._methods:
            raise JsonRpcMethodNotFound.of(method)
        kind, handler = self._methods[method]
        record = parse(kind, params, method)
        try:
            answer = await handler(record)
        except AgentError as error:
            raise JsonRpcException(str(error), REQUEST_FAILED) from error
        return None if answer is None else answer.to_wire()


def parse(kind: type[R], params: object, where: str) -> R:
    """Plain JSON as a record; raises JsonRpcInvalidParams that names each wrong field.

    Every object of the protocol may carry `_meta`; one that we give no meaning is left aside.
    """
    fields = mapping(params)
    if "_meta" in fields and "meta" not in kind.model_fields:
        params = {name: value for name, value in fields.items() if name != "_meta"}
    try:
        return kind.model_validate(params)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False, include_context=False)
        words = [
            f"{'.'.join(str(part) for part in problem['loc']) or 'params'}: {problem['msg']}"
            for problem in problems[:MOST_PROBLEMS]
        ]
        raise JsonRpcInvalidParams(f"{where}: {'; '.join(words)}") from None
