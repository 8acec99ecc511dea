"""JSON-RPC done right over pygls' dispatch: answers for every request, cancel that arrives.

What pygls 2.1.1 does otherwise is listed in tests/e2e/test_transport.py, one test a defect.
"""

import asyncio
import contextvars
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from concurrent.futures import Future
from typing import Any, cast
from uuid import uuid4

from cattrs import Converter, transform_error
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from sidelight.lsp.transport import ConnectionLostError, Inbox, Output
from sidelight.wire.loose import mapping

log = logging.getLogger(__name__)

Message = dict[str, Any]
Handler = Callable[..., Any]
CustomHandler = Callable[[str, Any], Awaitable[Any]]


class AgentProtocol(LanguageServerProtocol):
    """The dispatcher. `feed` takes bodies, `output` carries answers, `ask` asks the client.

    Custom methods get their params as plain JSON, nested `jsonrpc` and `_meta` keys included.
    `close` is what `shutdown` waits for; `experimental` goes into the answer to `initialize`.
    """

    def __init__(self, server: LanguageServer, converter: Converter) -> None:
        super().__init__(server, converter)
        self.output: Output | None = None
        self.experimental: Any = None
        self.close: Callable[[], Awaitable[None]] = self.end_work
        self.exited = asyncio.Event()
        self.custom_requests: dict[str, CustomHandler] = {}
        self.custom_notifications: dict[str, CustomHandler] = {}
        self._asked: dict[Any, tuple[asyncio.Future[Any], Any, str]] = {}
        self._initialized = False
        self._lost = False
        self.replace(types.SHUTDOWN, self._on_shutdown)
        self.replace(types.EXIT, self._on_exit)
        self.replace(types.WORKSPACE_EXECUTE_COMMAND, self._on_command)

    @property
    def shutdown_requested(self) -> bool:
        """Whether the client asked for an orderly end; the exit code follows it."""
        return self._shutdown

    def replace(self, method: str, handler: Handler) -> None:
        """Handle a method in place of the library's own handler."""
        cast(Any, self.fm).add_builtin_feature(method, handler)

    # --- messages in ----------------------------------------------------------------------------

    async def pump(self, inbox: Inbox) -> None:
        """Handle messages until the end of input (None).

        Each is dispatched, then the loop runs once: the first stretch of every handler, up to
        its first wait, is over before the next message is looked at. A request whose cancel is
        already waiting behind it is answered without being run.
        """
        waiting: deque[Message] = deque()
        ended = False
        while waiting or not ended:
            for body in inbox.take():
                if body is None:
                    ended = True
                elif (message := self._parse(body)) is not None:
                    self._arrive(message, waiting)
            if waiting:
                self._dispatch(waiting.popleft())
                await asyncio.sleep(0)
            elif not ended:
                await inbox.wait()

    def _arrive(self, message: Message, waiting: deque[Message]) -> None:
        if message.get("method") == types.CANCEL_REQUEST:
            target = _cancel_target(message)
            for earlier in waiting:
                if "method" in earlier and "id" in earlier and earlier["id"] == target:
                    earlier["cancelled"] = True
                    return
        waiting.append(message)

    def _parse(self, body: bytes) -> Message | None:
        try:
            message = json.loads(body)
        except (ValueError, RecursionError) as error:
            log.error("a message of %d bytes is not JSON: %s", len(body), error)
            self._refuse(None, JsonRpcParseError(f"not JSON: {error}"))
            return None
        message = mapping(message)
        if message.get("jsonrpc") != self.VERSION:
            self._refuse(None, JsonRpcInvalidRequest("not a JSON-RPC 2.0 message"))
            return None
        return message

    def _dispatch(self, message: Message) -> None:
        context = contextvars.copy_context()
        try:
            if "method" not in message:
                self._on_answer(message)
            elif "id" in message:
                context.run(self._on_request, message)
            else:
                context.run(self._on_notification, message)
        except Exception:
            log.exception("a message was not handled: %s", message.get("method"))

    def _on_request(self, message: Message) -> None:
        method = str(message["method"])
        try:
            self._check_order(message, method)
            params = self._structure(method, message)
        except JsonRpcException as error:
            self._refuse(message["id"], error)
            return
        self._handle_request(message["id"], method, params)

    def _check_order(self, message: Message, method: str) -> None:
        if message.get("cancelled"):
            raise JsonRpcRequestCancelled(f"{method} was cancelled before it began")
        if self._shutdown:
            raise JsonRpcInvalidRequest(f"{method}: the server is shutting down")
        if method == types.INITIALIZE:
            if self._initialized:
                raise JsonRpcInvalidRequest("initialize was already answered")
            self._initialized = True
        elif not self._initialized:
            raise JsonRpcServerNotInitialized(f"{method} came before initialize")

    def _on_notification(self, message: Message) -> None:
        method = str(message["method"])
        if method != types.EXIT and (self._shutdown or not self._initialized):
            log.debug("%s ignored: before initialize or after shutdown", method)
            return
        try:
            params = self._structure(method, message)
        except JsonRpcMethodNotFound:
            log.debug("%s ignored: nobody handles it", method)
            return
        except JsonRpcException as error:
            log.error("%s ignored: %s", method, error.message)
            return
        self._handle_notification(method, params)

    def _structure(self, method: str, message: Message) -> Any:
        """The params as the handler wants them; raises a JsonRpcException with a sentence."""
        if method in self.custom_requests or method in self.custom_notifications:
            return message.get("params")
        if method != types.CANCEL_REQUEST:
            self._get_handler(method)
        message_type = self.get_message_type(method)
        if message_type is None:
            return message.get("params")
        try:
            return self._converter.structure({"params": None, **message}, message_type).params
        except Exception as error:
            detail = "; ".join(transform_error(error, path="message")[:3])
            raise JsonRpcInvalidParams(f"{method}: {detail}") from error

    def _get_handler(self, feature_name: str) -> Handler:
        custom = self.custom_requests.get(feature_name)
        custom = custom or self.custom_notifications.get(feature_name)
        if custom is None:
            return super()._get_handler(feature_name)
        handler = custom

        async def run(params: Any) -> Any:
            return await handler(feature_name, params)

        return run

    def _execute_handler(
        self,
        msg_id: Any,
        handler: Handler,
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        def done(future: Any) -> None:
            self._request_futures.pop(msg_id, None)  # the library keeps those of notifications
            callback(future)

        super()._execute_handler(msg_id, handler, done, args, kwargs)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.cancel()

    # --- answers out ----------------------------------------------------------------------------

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        if future.cancelled():
            self._refuse(msg_id, JsonRpcRequestCancelled("the request was cancelled"))
            return
        error = future.exception()
        if error is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, JsonRpcException):
            self._refuse(msg_id, error)
        else:
            log.error("a request failed", exc_info=error)
            sentence = f"Internal error: {type(error).__name__}: {error}"
            self._refuse(msg_id, JsonRpcInternalError(sentence))

    def _check_handler_result(self, future: Any) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            log.error("a notification was not handled", exc_info=error)

    def _refuse(self, id: Any, error: JsonRpcException) -> None:
        answer = {"code": error.code, "message": error.message}
        self._write({"jsonrpc": self.VERSION, "id": id, "error": answer})

    def _send_data(self, data: Any) -> None:
        self._write(data)

    def _write(self, data: Any) -> None:
        if self.output is None:
            return
        body = json.dumps(data, default=self._serialize_message, separators=(",", ":"))
        self.output.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))

    def tell(self, method: str, params: Any) -> None:
        """Send a notification whose params are plain JSON."""
        self._write({"jsonrpc": self.VERSION, "method": method, "params": params})

    async def drain(self) -> None:
        """Wait while the client is slow to read."""
        if self.output is not None:
            await self.output.drain()

    # --- questions to the client ----------------------------------------------------------------

    def send_request(
        self, method: str, params: Any = None, callback: Any = None, msg_id: Any = None
    ) -> Future[Any]:
        """Refused: a question without a task to wait for it could not be cancelled."""
        raise RuntimeError(f"{method}: use send_request_async")

    async def send_request_async(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, method: str, params: Any | None = None, msg_id: Any = None
    ) -> Any:
        """Ask the client. Cancelling the caller tells the client by `$/cancelRequest`.

        Raises JsonRpcException with the client's error, ConnectionLostError when it is gone. A
        coroutine, where the library returns a future.
        """
        if self._lost or self.output is None or self.output.lost:
            raise ConnectionLostError(f"{method}: the editor is gone")
        name = msg_id or str(uuid4())
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._asked[name] = (future, self.get_result_type(method), method)
        self._write({"jsonrpc": self.VERSION, "id": name, "method": method, "params": params})
        try:
            return await future
        except asyncio.CancelledError:
            self.tell(types.CANCEL_REQUEST, {"id": name})
            raise
        finally:
            self._asked.pop(name, None)

    def _on_answer(self, message: Message) -> None:
        future, result_type, method = self._asked.get(message.get("id"), (None, None, ""))
        if future is None or future.done():
            log.debug("an answer to a question that was given up")
            return
        if "error" in message:
            error = mapping(message["error"])
            sentence = str(error.get("message") or "the editor gave no reason")
            code: Any = error.get("code")
            future.set_exception(
                JsonRpcException(sentence, code if isinstance(code, int) else None)
            )
            return
        result = message.get("result")
        if result_type is not None:
            try:
                plain = {"id": 0, "jsonrpc": self.VERSION, "result": result}
                result = self._converter.structure(plain, result_type).result
            except Exception as problem:
                future.set_exception(
                    JsonRpcInternalError(f"the answer to {method} is not valid: {problem}")
                )
                return
        future.set_result(result)

    # --- the end --------------------------------------------------------------------------------

    async def end_work(self, seconds: float = 1.0) -> None:
        """Cancel what runs and what waits for the client; give tasks `seconds` to clean up."""
        own = asyncio.current_task()
        tasks = [
            future
            for future in list(self._request_futures.values())
            if isinstance(future, asyncio.Task) and future is not own and not future.done()
        ]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    def lose_client(self) -> None:
        """Nothing will be answered any more: every open question fails with ConnectionLost."""
        self._lost = True
        for future, _, method in list(self._asked.values()):
            if not future.done():
                future.set_exception(ConnectionLostError(f"{method}: the editor is gone"))

    async def _on_shutdown(self, *_: Any) -> None:
        self._shutdown = True
        await self.close()

    def _on_exit(self, *_: Any) -> None:
        self.exited.set()

    async def _on_command(self, params: types.ExecuteCommandParams) -> Any:
        commands = cast(dict[str, Handler], cast(Any, self.fm).commands)
        handler = commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams(f"there is no command {params.command!r}")
        return await handler(params.arguments or [])

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(
        self, params: types.InitializeParams
    ) -> Generator[Any, Any, types.InitializeResult]:
        """The library's answer, with what it never fills in itself."""
        result = yield from super().lsp_initialize(params)
        result.capabilities.experimental = self.experimental
        return result


def _cancel_target(message: Message) -> Any:
    return mapping(message.get("params")).get("id")
