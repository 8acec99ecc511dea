"""Permission questions: a card in our own panel, a message with buttons elsewhere."""

import logging
from collections.abc import Sequence

import anyio
from lsprotocol import types
from pydantic import ValidationError
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from sidelight.core.errors import HostError
from sidelight.core.host import PermissionPrompt, PermissionReply
from sidelight.lsp.documents import read
from sidelight.lsp.server import AgentServer
from sidelight.lsp.transport import ConnectionLostError
from sidelight.wire.diffs import preview
from sidelight.wire.methods import FileDiff, NoticeShown, PermissionAnswer
from sidelight.wire.permission import (
    Choice,
    choices_for,
    plain_question,
    reply_to,
    request_for,
)

log = logging.getLogger(__name__)

PATIENCE_SECONDS = 600.0
NO_DIALOGS = (
    "This editor shows no questions, so it was denied. Go on without it, and name in the answer "
    "what could not be done. The user can allow it with a rule in the settings."
)


class Questions:
    """Asks the person. Messages with buttons are asked one at a time in the whole editor: some
    editors show a second one over the first, which is then never answered."""

    def __init__(self, server: AgentServer, patience: float = PATIENCE_SECONDS) -> None:
        self._server = server
        self._patience = patience
        self._one_at_a_time = anyio.Lock()
        self._shows_dialogs = True

    async def ask(self, session_id: str, prompt: PermissionPrompt) -> PermissionReply:
        """The person's answer; see `Host.ask_permission`. Raises HostError when nobody is there."""
        diffs = await self._diffs(prompt)
        choices = choices_for(prompt, self._server.locale)
        try:
            if self._server.client.ours:
                return await self._card(session_id, prompt, choices, diffs)
            return await self._message(prompt, choices, diffs)
        except ConnectionLostError as error:
            raise HostError(str(error)) from error

    async def _card(
        self,
        session_id: str,
        prompt: PermissionPrompt,
        choices: Sequence[Choice],
        diffs: Sequence[FileDiff],
    ) -> PermissionReply:
        params = request_for(session_id, prompt, choices, diffs, self._server.locale)
        try:
            answer = await self._server.protocol.send_request_async(
                "session/request_permission", params.to_wire()
            )
            reply, problems = reply_to(PermissionAnswer.model_validate(answer), choices)
        except (JsonRpcException, ValidationError) as error:
            log.error("a permission question was not answered properly: %s", error)
            return PermissionReply(behavior="deny")
        for text in problems:
            shown = NoticeShown(session_id=session_id, severity="warning", text=text)
            self._server.protocol.tell("_sidelight/notice", shown.to_wire())
        return reply

    async def _message(
        self, prompt: PermissionPrompt, choices: Sequence[Choice], diffs: Sequence[FileDiff]
    ) -> PermissionReply:
        async with self._one_at_a_time:
            if not self._shows_dialogs:
                return PermissionReply(behavior="deny", feedback=NO_DIALOGS)
            picked = await self._show(plain_question(prompt, diffs, self._server.locale), choices)
        chosen = next((one for one in choices if _title(one) == picked), None)
        return chosen.reply() if chosen is not None else PermissionReply(behavior="deny")

    async def _show(self, text: str, choices: Sequence[Choice]) -> str | None:
        """The picked title; None for a closed message, an error, or nobody there."""
        params = types.ShowMessageRequestParams(
            type=types.MessageType.Warning,
            message=text,
            actions=[types.MessageActionItem(title=_title(choice)) for choice in choices],
        )
        try:
            with anyio.fail_after(self._patience):
                picked = await self._server.window_show_message_request_async(params)
        except TimeoutError:
            self._shows_dialogs = False  # it would be the same the next time
            return None
        except JsonRpcException as error:
            self._shows_dialogs = not isinstance(error, JsonRpcMethodNotFound) and (
                error.code != JsonRpcMethodNotFound.CODE
            )
            log.warning("the editor did not show a question: %s", error.message)
            return None
        return picked.title if picked is not None else None

    async def _diffs(self, prompt: PermissionPrompt) -> list[FileDiff]:
        diffs: list[FileDiff] = []
        for edit in prompt.preview:
            try:
                before = None
                if edit.base is not None:
                    before = (await read(self._server.buffers, edit.path)).text
                diffs.append(preview(edit, before))
            except (OSError, HostError, ValueError) as error:
                log.warning("no preview of %s: %s", edit.path, error)
        return diffs


def _title(choice: Choice) -> str:
    rules = [rule for update in choice.remember for rule in update.rules]
    return f"{choice.option.name}: {', '.join(rules)}" if rules else choice.option.name
