"""`FakeApplication`: conversations that do what the prompt says, without a model.

The first word of a prompt is the deed: `say TEXT`, `stream N`, `edit PATH OLD NEW`, `ask COMMAND`,
`wait`, `fail`, `notice TEXT`, `heard` (what the editor told). Hosts, events and reviews are the
real ones.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import anyio

from sidelight.background.tasks import Background
from sidelight.core.content import Json, Text, ToolResult, ToolUse, UserBlock
from sidelight.core.decision import Allow, Deny, Mode, PermissionUpdate, Reason
from sidelight.core.errors import AgentError
from sidelight.core.events import (
    MessageAdded,
    ModeChanged,
    Notice,
    PermissionAsked,
    PermissionDecided,
    Queued,
    ReviewChanged,
    SpendChanged,
    TextDelta,
    ToolCallEnded,
    ToolCallStarted,
    TurnEnded,
    TurnStarted,
)
from sidelight.core.host import FileChange, FileEdit, Host, PermissionPrompt, TextEdit
from sidelight.core.ids import new_id
from sidelight.core.ledger import FileLedger
from sidelight.core.messages import AssistantMessage, Message, Usage, UserMessage
from sidelight.core.spend import Spent
from sidelight.lsp.application import Editor, Pausing
from sidelight.lsp.convert import uri_of
from sidelight.review.ledger import ReviewLedger
from sidelight.session.model_choice import BUSY
from sidelight.session.redo import redo, undo
from sidelight.session.review_host import ReviewHost
from sidelight.session.spend import Ledger
from sidelight.transcripts.entry import CallStored
from sidelight.wire.changes import changes_of
from sidelight.wire.connection import Connection, ModelInfo
from sidelight.wire.methods import ModeInfo, SessionInfo
from sidelight.wire.reviewing import Changes, Review, Reviewed

MODEL = "scripted"


class FakeConversation:
    """One conversation; a second prompt waits for the first."""

    def __init__(self, cwd: str, editor: Editor, heard: Sequence[str]) -> None:
        self.id = new_id()
        self.cwd = cwd
        self.mode: Mode = "default"
        self.model = MODEL
        self.title: str | None = None
        self.history: list[Message] = []
        self.calls: dict[str, CallStored] = {}
        self.review = ReviewLedger()
        self.queued: tuple[Queued, ...] = ()
        self.ledger = Ledger()
        self.background = Background()
        self.spent: SpendChanged | None = None
        self._heard = heard
        self._sink = editor.sink(self.id)
        self.host = ReviewHost(
            editor.host(self.id), self.review, lambda: self._sink(ReviewChanged())
        )
        self._turns = anyio.Lock()
        self._scope: anyio.CancelScope | None = None

    @property
    def running(self) -> bool:
        return self._scope is not None

    def withheld(self, path: str) -> str:
        return "the file may hold secrets" if path.endswith(".env") else ""

    async def prompt(self, content: Sequence[UserBlock], prompt_id: str | None = None) -> TurnEnded:
        words = "\n".join(block.text for block in content if isinstance(block, Text))
        async with self._turns:
            turn_id = new_id()
            self.title = self.title or words.partition("\n")[0]
            await self._sink(TurnStarted(turn_id=turn_id, prompt_id=prompt_id or "p"))
            await self._add(UserMessage(id=prompt_id or new_id(), content=tuple(content)))
            ended = TurnEnded(turn_id=turn_id, reason="cancelled")
            with anyio.CancelScope() as self._scope:
                ended = await self._do(turn_id, words)
            self._scope = None
            await self._sink(ended)
            return ended

    def cancel(self) -> None:
        if self._scope is not None:
            self._scope.cancel()

    async def edit_queued(
        self, prompt_id: str, change: Callable[[Sequence[UserBlock]], Sequence[UserBlock]]
    ) -> bool:
        return False

    async def remove_queued(self, prompt_id: str) -> bool:
        return False

    def stop_call(self, tool_use_id: str) -> bool:
        return False

    @property
    def pause(self) -> Pausing:
        raise NotImplementedError("no scripted conversation has steps")

    async def set_mode(self, mode: Mode) -> None:
        self.mode = mode
        await self._sink(ModeChanged(mode=mode))

    async def set_model(self, model: str) -> None:
        if self.running:
            raise AgentError(BUSY)
        self.model = model

    async def changed(self) -> None:
        await self._sink(ReviewChanged())

    async def _do(self, turn_id: str, words: str) -> TurnEnded:
        deed, _, rest = words.partition(" ")
        match deed:
            case "wait":
                await self._say("waiting")
                await anyio.sleep_forever()
            case "fail":
                return TurnEnded(turn_id=turn_id, reason="failed", error="The model is away.")
            case "notice":
                await self._sink(Notice(severity="warning", text=rest))
            case "heard":
                await self._say("\n".join(self._heard))
            case "stream":
                await self._say(*(f"piece {number}\n" for number in range(int(rest))))
            case "edit":
                await self._edit(*rest.split(" "))
            case "ask":
                await self._ask(rest)
            case "say":
                await self._say(rest.replace("\\n", "\n"))
            case _:
                await self._say(words)
        return TurnEnded(turn_id=turn_id, reason="completed")

    async def _say(self, *pieces: str) -> None:
        message_id = new_id()
        for piece in pieces:
            await self._sink(TextDelta(message_id=message_id, text=piece))
        content = (Text(text="".join(pieces)),)
        usage = Usage(input_tokens=90, output_tokens=10)
        await self._add(AssistantMessage(id=message_id, content=content, usage=usage, model=MODEL))

    async def _call(self, name: str, summary: str, **input: str) -> ToolUse:
        call = ToolUse(id=new_id(), name=name, input=dict(input))
        await self._add(AssistantMessage(id=new_id(), content=(call,), model=MODEL))
        await self._sink(ToolCallStarted(call=call, summary=summary))
        return call

    async def _edit(self, path: str, old: str, new: str) -> None:
        call = await self._call("Edit", path, file_path=path, old_string=old, new_string=new)
        before = await self.host.read_text(path)
        start = before.text.index(old)
        part = TextEdit(start=start, end=start + len(old), new_text=new)
        edit = FileEdit(path=path, base=before.digest, edits=(part,))
        outcome = await self.host.apply_edit((edit,), f"Edit {path}")
        text = "\n".join((outcome.failure or "edited", outcome.detail, outcome.note)).strip()
        line = before.text.count("\n", 0, start) + 1
        patch = {"oldStart": line, "oldLines": 1, "newStart": line, "newLines": 1}
        data: Json = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "structuredPatch": [{**patch, "lines": [f"-{old}", f"+{new}"]}],
        }
        await self._end(call, text, "done" if outcome.applied else "failed", data)

    async def _ask(self, command: str) -> None:
        call = await self._call("Bash", command, command=command)
        prompt = PermissionPrompt(
            id=new_id(),
            call=call,
            title=f"Run {command}",
            reason=Reason(layer="mode", detail="No rule allows it."),
            suggestions=(PermissionUpdate(action="add", rules=(f"Bash({command})",)),),
        )
        await self._sink(PermissionAsked(prompt=prompt))
        reply = await self.host.ask_permission(prompt)
        reason = Reason(layer="person")
        decision = (
            Allow(reason=reason)
            if reply.behavior == "allow"
            else Deny(reason=reason, message=reply.feedback)
        )
        await self._sink(PermissionDecided(tool_use_id=call.id, decision=decision))
        remembered = [rule for update in reply.remember for rule in update.rules]
        text = f"{reply.behavior} {reply.feedback} {remembered} {reply.updated_input}"
        await self._end(call, text, "done" if reply.behavior == "allow" else "denied", {})
        await self._say(reply.behavior)

    async def _end(self, call: ToolUse, text: str, outcome: str, data: Json) -> None:
        result = ToolResult(tool_use_id=call.id, content=(Text(text=text),))
        event = ToolCallEnded.model_validate(
            {"name": call.name, "result": result, "outcome": outcome, "data": data}
        )
        self.calls[call.id] = CallStored(
            tool_use_id=call.id, name=call.name, outcome=outcome, data=data
        )
        await self._sink(event)
        await self._add(UserMessage(id=new_id(), content=(result,), origin="tools"))

    async def _add(self, message: Message) -> None:
        self.history.append(message)
        await self._sink(MessageAdded(message=message))
        if isinstance(message, AssistantMessage):
            spent = Spent(
                request_id=message.id, model=message.model, usage=message.usage, cost_usd=0.25
            )
            self.ledger.add(spent)
            self.spent = self.ledger.told(spent)
            await self._sink(self.spent)


class FakeApplication:
    """Implements Application; `heard` is what the editor told, in words."""

    def __init__(self, state_folder: str) -> None:
        self.state_folder = state_folder
        self.heard: list[str] = []
        self.conversations: dict[str, FakeConversation] = {}
        self._editor: Editor | None = None

    def unsaved_buffers(self) -> Literal["save", "keep"]:
        return "save"

    @property
    def editor(self) -> Editor:
        assert self._editor is not None
        return self._editor

    async def start(self, editor: Editor) -> None:
        self._editor = editor
        self.heard.append(f"start {list(editor.roots)} {editor.locale}")

    async def shutdown(self) -> None:
        for conversation in self.conversations.values():
            conversation.cancel()

    async def new_session(self, cwd: str) -> FakeConversation:
        if not await anyio.Path(cwd).is_dir():
            raise AgentError(f"{cwd} is not a folder.")
        conversation = FakeConversation(cwd, self.editor, self.heard)
        self.conversations[conversation.id] = conversation
        return conversation

    async def load_session(self, session_id: str, cwd: str) -> FakeConversation:
        if session_id not in self.conversations:
            raise AgentError(f"There is no conversation {session_id} in {cwd}.")
        return self.conversations[session_id]

    async def list_sessions(self, cwd: str | None) -> Sequence[SessionInfo]:
        return [
            SessionInfo(session_id=one.id, cwd=one.cwd, title=one.title)
            for one in self.conversations.values()
            if cwd in {None, one.cwd}
        ]

    def session(self, session_id: str) -> FakeConversation | None:
        return self.conversations.get(session_id)

    def modes(self) -> Sequence[ModeInfo]:
        return (ModeInfo(id="default", name="Default"), ModeInfo(id="plan", name="Plan"))

    async def models(self) -> Sequence[ModelInfo]:
        return [ModelInfo(model_id=name, name=name.title()) for name in (MODEL, "other")]

    def model_id(self, model: str) -> str:
        return model

    async def connect(self, api_key: str | None) -> Connection:
        connection = Connection(ready=True, model=MODEL, source="a key" if api_key else "nothing")
        await self.editor.connection(connection)
        return connection

    async def small_actions(self) -> None:
        return None

    def only_small(self) -> bool:
        return False

    async def host_for(self, path: str) -> Host:
        return (await self.new_session(str(Path(path).parent))).host

    def context_window(self, model: str) -> int | None:
        return 1000 if model == MODEL else None

    def changes(self) -> Sequence[Changes]:
        found = (changes_of(one.id, one.review, uri_of) for one in self.conversations.values())
        return [changes for changes in found if changes.files or changes.redo]

    async def review(self, request: Review) -> Reviewed:
        conversation = self.conversations[request.session_id]
        ledger = conversation.review
        if request.action == "keep":
            done = ledger.keep(request.path, request.hunk_id)
            await conversation.changed()
            return Reviewed(done=done)
        host, seen = self.editor.host(conversation.id), FileLedger()
        if request.action == "redo":
            done, problem = await redo(ledger, host, seen)
        else:
            done, problem = await undo(ledger, host, seen, request.path, request.hunk_id)
        await conversation.changed()
        return Reviewed(done=done, problem=problem)

    def original(self, path: str) -> str | None:
        found = (one.review.original(path) for one in self.conversations.values())
        return next((text for text in found if text is not None), None)

    async def text_changed(self, path: str, text: str) -> None:
        for conversation in self.conversations.values():
            if conversation.review.text_changed(path, text):
                await conversation.changed()

    async def file_changed(self, change: FileChange) -> None:
        self.heard.append(f"{change.event} {change.path}")

    async def folders_changed(self, added: Sequence[str], removed: Sequence[str]) -> None:
        self.heard.append(f"folders +{list(added)} -{list(removed)}")

    async def terminal_moved(self, old_cwd: str, new_cwd: str) -> None:
        self.heard.append(f"terminal {old_cwd} {new_cwd}")
