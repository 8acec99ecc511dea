"""Explain, fix, run: in our panel where there is one, else in any editor by messages and files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lsprotocol import types

from sidelight.core.content import Text
from sidelight.core.errors import AgentError
from sidelight.core.events import (
    Event,
    MessageAdded,
    Notice,
    RetryScheduled,
    ToolCallStarted,
    TurnEnded,
)
from sidelight.core.messages import AssistantMessage
from sidelight.core.record import Record
from sidelight.lsp.application import Application, Conversation
from sidelight.lsp.convert import path_of
from sidelight.lsp.documents import read
from sidelight.lsp.feeds import Feeds
from sidelight.lsp.lines import split_lines
from sidelight.lsp.progress import Progress
from sidelight.lsp.server import AgentServer
from sidelight.lsp.shown import Shown
from sidelight.wire.catalogue import say
from sidelight.wire.diffs import difference
from sidelight.wire.methods import (
    AddToChat,
    EmbeddedText,
    Nothing,
    PromptBlock,
    ResourceBlock,
    TextBlock,
)
from sidelight.wire.prompts import to_blocks

LONGEST_MESSAGE = 200


class PlacePoint(Record):
    """A position of the protocol."""

    line: int
    character: int


class PlaceRange(Record):
    """A range of the protocol."""

    start: PlacePoint
    end: PlacePoint


class Target(Record):
    """What a code action is about; `problem` is the diagnostic's message, `words` a wish."""

    uri: str
    range: PlaceRange
    problem: str | None = None
    words: str | None = None


class Task(Record):
    """What to do, in the person's words."""

    text: str


class Document(Record):
    """A document by its URI."""

    uri: str


class PlainCommands:
    """The commands that work in every editor. One task at a time runs without a panel."""

    def __init__(
        self,
        server: AgentServer,
        application: Application,
        feeds: Feeds,
        roots: Callable[[], Sequence[str]],
        shown: Shown,
    ) -> None:
        self._server = server
        self._application = application
        self._feeds = feeds
        self._roots = roots
        self._shown = shown
        self._conversation: Conversation | None = None
        self._running = False

    @property
    def running(self) -> bool:
        """Whether a task runs that was started without a panel."""
        return self._running

    async def explain(self, target: Target) -> None:
        """Explain the selection or the problem."""
        words = "Explain this problem and what causes it: {problem}"
        await self._about(target, words if target.problem else "Explain this code.", send=True)

    async def fix(self, target: Target) -> None:
        """Fix the selection or the problem."""
        words = "Fix this problem: {problem}"
        plain = "Find out what is wrong with this code and fix it."
        await self._about(target, words if target.problem else plain, send=True)

    async def document(self, target: Target) -> None:
        """Write a docstring for what is selected."""
        await self._about(target, "Document this code; change nothing else.", send=True)

    async def rename(self, target: Target) -> None:
        """Rename what the words say; without words, for a clearer name."""
        words = "Rename, everywhere in the project: {words}"
        plain = "Find a clearer name for this, and rename it everywhere in the project."
        await self._about(target, words if target.words else plain, send=True)

    async def commit_message(self, folder: str) -> None:
        """Have the agent write a commit message for what is staged."""
        words = say(
            self._server.locale, "Write a commit message for what is staged; do not commit."
        )
        self._start([TextBlock(text=words)], folder)

    async def add_to_chat(self, target: Target) -> None:
        """Put the selection into the prompt; without a panel there is none, so it is said."""
        await self._about(
            target, "Fix this problem: {problem}" if target.problem else "", send=False
        )

    async def run(self, task: Task) -> None:
        """Start a task; its answer is shown when it is there."""
        self._start([TextBlock(text=task.text)], None)

    async def stop(self, _: Nothing) -> None:
        """Stop the task that runs."""
        if self._conversation is None or not self._running:
            self._shown.message("Nothing is running.")
            return
        self._conversation.cancel()

    async def show_diff(self, document: Document) -> None:
        """The pending changes of a file as a document."""
        path = path_of(document.uri)
        original = self._application.original(path)
        if original is None:
            self._shown.message("Nothing is waiting for review.")
            return
        now = (await read(self._server.buffers, path)).text
        lines = difference(path, original, now).lines
        body = "\n".join(f"{line.sign}{line.text}" for line in lines)
        await self._shown.document(f"```diff\n{body}\n```\n", f"{Path(path).name}.diff")

    # --- what it is about -----------------------------------------------------------------------

    async def _about(self, target: Target, words: str, *, send: bool) -> None:
        path, first, last = path_of(target.uri), target.range.start.line, target.range.end.line
        if target.range.end.character == 0 and last > first:
            last -= 1
        lines = split_lines((await read(self._server.buffers, path)).text)
        text = "".join(lines[first : last + 1])
        fields = {"problem": target.problem or "", "words": target.words or ""}
        prompt = say(self._server.locale, words, **fields) if words else None
        if self._server.client.ours:
            added = AddToChat(
                uri=target.uri,
                start_line=first + 1,
                end_line=last + 1,
                text=text,
                prompt=prompt,
                send=send,
            )
            self._server.protocol.tell("_sidelight/add_to_chat", added.to_wire())
            return
        if not send:
            raise AgentError("This editor has no chat panel; use the command sidelight.run.")
        uri = f"{target.uri}#L{first + 1}-L{last + 1}"
        beside = ResourceBlock(resource=EmbeddedText(uri=uri, text=text))
        self._start([TextBlock(text=prompt or ""), beside], path)

    # --- a task without a panel -----------------------------------------------------------------

    def _start(self, prompt: Sequence[PromptBlock], path: str | None) -> None:
        """Begin and return: some editors freeze while a command runs."""
        if self._running:
            self._shown.message("A task is running already; stop it first.")
            return
        self._running = True
        self._server.background(self._task(prompt, path))

    async def _task(self, prompt: Sequence[PromptBlock], path: str | None) -> None:
        try:
            conversation = await self._conversation_for(path)
            title = next((one.text for one in prompt if isinstance(one, TextBlock)), "")
            async with Progress(
                self._server, f"Sidelight: {title}"[:80], conversation.cancel
            ) as shown:
                answer = _Answer(shown, self._shown.message)
                untap = self._feeds.tap(conversation.id, answer.take)
                try:
                    content, _ = await to_blocks(  # without a panel nobody attaches pictures
                        prompt, lambda uri: conversation.withheld(path_of(uri))
                    )
                    ended = await conversation.prompt(content)
                finally:
                    untap()
                shown.last_words = self._last_words(ended)
            await self._end(ended, answer.text)
        except AgentError as error:
            self._shown.message("Failed: {error}", types.MessageType.Error, error=str(error))
        finally:
            self._running = False

    async def _conversation_for(self, path: str | None) -> Conversation:
        """The one that was begun in the folder; another folder begins another."""
        roots = list(self._roots())
        holding = [root for root in roots if path and Path(path).is_relative_to(root)]
        cwd = (holding or roots or [str(Path(path).parent) if path else str(Path.home())])[0]
        if self._conversation is None or self._conversation.cwd != cwd:
            self._conversation = await self._application.new_session(cwd)
        return self._conversation

    def _last_words(self, ended: TurnEnded) -> str:
        if ended.error:
            return say(self._server.locale, "Failed: {error}", error=ended.error)
        return say(self._server.locale, "Stopped" if ended.reason == "cancelled" else "Done")

    async def _end(self, ended: TurnEnded, text: str) -> None:
        if ended.error:
            self._shown.message("Failed: {error}", types.MessageType.Error, error=ended.error)
        if "\n" in text.strip() or len(text) > LONGEST_MESSAGE:
            await self._shown.document(text, "answer.md")
        elif text.strip():
            self._server.window_show_message(
                types.ShowMessageParams(type=types.MessageType.Info, message=text.strip())
            )


class _Answer:
    """Listens to a turn: what is being done, and what was said last."""

    def __init__(self, progress: Progress, message: Callable[..., None]) -> None:
        self.text = ""
        self._progress = progress
        self._message = message

    async def take(self, event: Event) -> None:
        match event:
            case MessageAdded(message=AssistantMessage() as message):
                said = "".join(one.text for one in message.content if isinstance(one, Text))
                self.text = said or self.text
            case ToolCallStarted():
                self._progress.say(f"{event.call.name} {event.summary}")
            case RetryScheduled():
                self._progress.say(f"{event.cause} ({event.delay_s:.0f} s)")
            case Notice() if event.severity == "info":
                self._progress.say(event.text)
            case Notice():
                self._message(event.text, types.MessageType.Warning)
            case _:
                pass
