"""Work-done progress with a token of its own each time, forgotten at the end."""

from collections.abc import Callable
from types import TracebackType
from uuid import uuid4

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from sidelight.lsp.server import AgentServer


class Progress:
    """Shows that something runs, where the editor can; use it with `async with`.

    `stop` is called when the person cancels it in the editor.
    """

    def __init__(self, server: AgentServer, title: str, stop: Callable[[], None]) -> None:
        self._server = server
        self._title = title
        self._stop = stop
        self._token: str | None = None
        self.last_words: str | None = None

    async def __aenter__(self) -> "Progress":
        window = self._server.client_capabilities.window
        if window and window.work_done_progress:
            token = str(uuid4())
            try:
                await self._server.window_work_done_progress_create_async(
                    types.WorkDoneProgressCreateParams(token=token)
                )
            except JsonRpcException:
                return self  # the work goes on unseen
            self._token = token
            self._server.stoppable[token] = self._stop
            self._tell(types.WorkDoneProgressBegin(title=self._title, cancellable=True))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None:
            self._server.stoppable.pop(self._token, None)
            self._tell(types.WorkDoneProgressEnd(message=self.last_words))

    def say(self, words: str) -> None:
        """What is being done right now."""
        if self._token is not None:
            self._tell(types.WorkDoneProgressReport(message=words))

    def _tell(
        self,
        value: types.WorkDoneProgressBegin
        | types.WorkDoneProgressReport
        | types.WorkDoneProgressEnd,
    ) -> None:
        assert self._token is not None
        self._server.progress(types.ProgressParams(token=self._token, value=value))
