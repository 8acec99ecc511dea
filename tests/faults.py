"""What can go wrong in a step, as values: what the model's server plays, and how the turn ends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sidelight.core.events import EndReason, Event, ToolCallStarted, ToolProgress
from tests.fakes.messages_api.script import (
    Answer,
    Block,
    HttpError,
    Step,
    cut,
    error_event,
    event,
    gate,
    hang_up,
    http_error,
    overloaded,
    rate_limited,
    reply,
    tool_use,
)
from tests.real_session import bash

Streaming = Literal["text", "tool"]
STALL = {"limits": {"modelSilenceMs": 300}}


@dataclass(frozen=True)
class Fault:
    """A fault of one step. `plays` gives the answers that stand in front of the right one.

    `replaces` says that nothing follows in that turn: it ends with `reason`, and its error holds
    `said`. `cancel` is the event at which the person presses stop, `own` are settings of ours.
    """

    name: str
    plays: Callable[[Streaming, Path], Sequence[Answer]]
    reason: EndReason = "completed"
    said: str = ""
    replaces: bool = False
    cancel: Callable[[Event], bool] | None = None
    own: dict[str, Any] = field(default_factory=dict[str, Any])
    full_disk: bool = False


def half(streaming: Streaming, folder: Path) -> tuple[Step | str, ...]:
    """An answer whose end is of the kind that is being streamed when it breaks."""
    call = tool_use("Read", {"file_path": str(folder / "half.txt")})
    return ("Some words that people read.",) if streaming == "text" else (call,)


def http(name: str, answers: Sequence[Answer], **more: Any) -> Fault:
    """The request itself fails."""
    return Fault(name, lambda streaming, folder: answers, **more)


def cut_at(name: str, **where: Any) -> Fault:
    """The connection ends in the middle of an answer."""
    return Fault(
        name, lambda streaming, folder: [reply(*half(streaming, folder), cut=cut(**where))]
    )


def said_then(name: str, *steps: Step, **more: Any) -> Fault:
    """An answer that is sound to a point, and then is not."""

    def plays(streaming: Streaming, folder: Path) -> Sequence[Answer]:
        before = ("Some words that people read.",) if streaming == "text" else ()
        return [reply(*before, *steps, **more)]

    return Fault(name, plays)


def ends(name: str, stop: str, reason: EndReason, said: str) -> Fault:
    """An answer that ends for a reason of its own."""

    def plays(streaming: Streaming, folder: Path) -> Sequence[Answer]:
        return [reply("Well, no.", stop_reason=stop)]

    return Fault(name, plays, reason, said, replaces=True)


def calls(name: str, *made: Block, **more: Any) -> Fault:
    """An answer whose calls are at fault; with text streaming words stand before them."""

    def plays(streaming: Streaming, folder: Path) -> Sequence[Answer]:
        return [reply(*(("I do it.",) if streaming == "text" else ()), *made)]

    return Fault(name, plays, **more)


def _stalls(streaming: Streaming, folder: Path) -> Sequence[Answer]:
    call = tool_use("Read", raw=('{"file_path": ', gate("never"), '"x"}'))
    return [reply(Block({"type": "text", "text": ""}, parts=("Some words", gate("never")))
                  if streaming == "text" else call)]  # fmt: skip


def _cut_at_the_limit(streaming: Streaming, folder: Path) -> Sequence[Answer]:
    if streaming == "text":
        return [reply("Some words that", stop_reason="max_tokens")]
    return [reply(tool_use("Read", raw='{"file_path": "/x'), stop_reason="max_tokens")]


def _for_ever(streaming: Streaming, folder: Path) -> Sequence[Answer]:
    before = ("Again.",) if streaming == "text" else ()
    return [reply(*before, tool_use("Glob", {"pattern": "*.txt"})) for _ in range(6)]


def begins(name: str) -> Callable[[Event], bool]:
    """When a call of the tool begins."""
    return lambda event: isinstance(event, ToolCallStarted) and event.call.name == name


def prints(text: str) -> Callable[[Event], bool]:
    """When a call printed the text."""
    return lambda event: isinstance(event, ToolProgress) and text in event.text


PROXY = HttpError(502, "", "", body=b"<html><h1>502 Bad Gateway</h1></html>")
BOUND = http_error(400, "messages.1.content.0: the block is bound to a different conversation.")
STUBBORN = "trap '' TERM; echo ready; while :; do sleep 1; done"
MISSHAPEN = {"type": "content_block_delta"}

FAULTS = (
    http("429 with Retry-After", [rate_limited(0)]),
    http("529 in a burst", [overloaded()] * 4),
    http("500", [http_error(500)] * 2),
    http("a proxy's page", [PROXY]),
    http("a connection closed without an answer", [hang_up()]),
    http("401", [http_error(401)], reason="failed", said="Set another key", replaces=True),
    http("402", [http_error(402)], reason="failed", said="credit", replaces=True),
    http("404", [http_error(404)], reason="failed", said="another model", replaces=True),
    http("413", [http_error(413)], reason="failed", said="attach less", replaces=True),
    http(
        "prompt too long",
        [http_error(400, "prompt is too long: 9 tokens > 8 maximum")],
        reason="failed",
        said="new conversation",
        replaces=True,
    ),
    http("thinking bound to another conversation", [BOUND]),
    cut_at("cut before the first block", after_event=1),
    cut_at("cut in a block", after_event=3),
    cut_at("cut at a byte", at_byte=700),
    cut_at("cut by a reset", after_event=3, how="reset"),
    cut_at("cut at an honest end of the body", after_event=4, how="end"),
    Fault("a stall", _stalls, own=STALL),
    said_then("an error in mid-stream", error_event()),
    said_then("an event that is no JSON", event("content_block_delta", "{no json")),
    said_then("an event of the wrong shape", event("content_block_delta", MISSHAPEN)),
    said_then("tool input that is no JSON", tool_use("Read", raw='{"file_path": ')),
    Fault("cut at the output limit", _cut_at_the_limit),
    ends("refusal", "refusal", "blocked", "declined"),
    ends("window exceeded", "model_context_window_exceeded", "failed", "new conversation"),
    calls("a tool that raises", tool_use("Faulty", {"name": "a", "bug": True})),
    calls("an unknown tool", tool_use("Nothing", {"name": "a"})),
    calls("wrong tool input", tool_use("Read", {"path": 7})),
    calls("ten megabytes of output", bash("head -c 10000000 /dev/zero | tr '\\0' x")),
    calls("fifty calls", *(tool_use("Glob", {"pattern": f"{n}*"}) for n in range(50))),
    Fault("the same call for ever", _for_ever, "blocked", replaces=True),
    calls(
        "a tool that never ends",
        tool_use("Faulty", {"name": "a", "gate": "never"}),
        reason="cancelled",
        replaces=True,
        cancel=begins("Faulty"),
    ),
    calls(
        "a tool that raises when it is cancelled",
        tool_use("Sore", {"name": "a", "gate": "never"}),
        reason="cancelled",
        replaces=True,
        cancel=begins("Sore"),
    ),
    calls(
        "a child that ignores SIGTERM",
        bash(STUBBORN),
        reason="cancelled",
        replaces=True,
        cancel=prints("ready"),
    ),
    Fault("a full disk for the transcript", lambda streaming, folder: [], full_disk=True),
)  # fmt: skip
