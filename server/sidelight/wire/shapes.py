"""The payloads of `session/update`, one function a kind, for live events and for replay."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

from sidelight.core.content import Json, Text, Thinking, ToolResult, ToolUse
from sidelight.core.decision import Decision
from sidelight.core.events import SpendChanged
from sidelight.core.messages import AssistantMessage, Message, Usage, UserMessage
from sidelight.core.spend import Total
from sidelight.wire.diffs import difference, from_patch
from sidelight.wire.methods import FileDiff, meta
from sidelight.wire.prompts import shown
from sidelight.wire.tool_words import kind_of, locations_of

SHOWN_ORIGINS = {"typed", "steering", "command"}
LARGEST_DIFF = 64 * 1024
"""Texts above this are not repeated for foreign clients; our panel has the lines anyway."""


class StoredCall(Protocol):
    """How a call ended, as the transcript keeps it."""

    @property
    def name(self) -> str:
        """The tool."""
        ...

    @property
    def outcome(self) -> str:
        """As in `ToolCallEnded`."""
        ...

    @property
    def data(self) -> Json:
        """The structured result."""
        ...

    @property
    def duration_ms(self) -> int:
        """How long it took."""
        ...


def text_chunk(kind: str, message_id: str, text: str) -> Json:
    """A piece of a message."""
    return {
        "sessionUpdate": kind,
        "messageId": message_id,
        "content": {"type": "text", "text": text},
    }


def piece_of_answer(message_id: str, text: str) -> Json:
    """A piece of the answer."""
    return text_chunk("agent_message_chunk", message_id, text)


def piece_of_thinking(message_id: str, text: str) -> Json:
    """A piece of shown thinking."""
    return text_chunk("agent_thought_chunk", message_id, text)


def dropped(message_id: str) -> Json:
    """A half-streamed message is void: clients that know `dropped` forget its text."""
    return {**piece_of_answer(message_id, ""), "_meta": meta(dropped=True)}


def user_chunks(message: UserMessage) -> Iterator[Json]:
    """What the person said; nothing for results of tools and reminders."""
    if message.origin not in SHOWN_ORIGINS:
        return
    for block in message.content:
        if not isinstance(block, ToolResult):
            yield {
                "sessionUpdate": "user_message_chunk",
                "messageId": message.id,
                "content": shown(block),
            }


def mode_update(mode: str) -> Json:
    """Another permission mode."""
    return {"sessionUpdate": "current_mode_update", "currentModeId": mode}


def info_update(title: str | None, updated_at: str | None = None) -> Json:
    """What lists show of the session."""
    update: Json = {"sessionUpdate": "session_info_update"}
    if title is not None:
        update["title"] = title
    if updated_at is not None:
        update["updatedAt"] = updated_at
    return update


def usage_update(event: SpendChanged, context: Usage, window: int) -> Json:
    """How full the context is after a response, and what the conversation has cost so far.

    Without a known price there is no `cost`: a number would look like one.
    """
    update: Json = {
        "sessionUpdate": "usage_update",
        "used": context.context_tokens + context.output_tokens,
        "size": window,
        "_meta": meta(
            model=event.spent.model,
            source=event.spent.source,
            usage=event.spent.usage.to_wire(),
            spend=_spend(event),
        ),
    }
    cost = event.session.cost_usd
    if cost is None:
        update["_meta"]["sidelight"]["priceUnknown"] = True
    else:
        update["cost"] = {"amount": round(cost, 6), "currency": "USD"}
    return update


def _spend(event: SpendChanged) -> Json:
    return {
        "request": Total().plus(event.spent).to_wire(),
        "turn": event.turn.to_wire(),
        "session": event.session.to_wire(),
        "models": {name: total.to_wire() for name, total in event.models.items()},
        "sources": {name: total.to_wire() for name, total in event.sources.items()},
    }


def call_started(call: ToolUse, summary: str) -> Json:
    """A call is about to be judged."""
    return {
        "sessionUpdate": "tool_call",
        "toolCallId": call.id,
        "title": f"{call.name} {summary}".strip(),
        "kind": kind_of(call.name),
        "status": "pending",
        "locations": locations_of(call),
        "rawInput": call.input,
        "_meta": meta(tool=call.name, summary=summary),
    }


def output_piece(tool_use_id: str, text: str) -> Json:
    """Output of a running call, to be added to what is shown."""
    return {
        "sessionUpdate": "tool_call_update",
        "toolCallId": tool_use_id,
        "status": "in_progress",
        "_meta": meta(outputDelta=text),
    }


def call_decided(tool_use_id: str, decision: Decision) -> Json:
    """A call was judged; only one that may run is in progress."""
    reason = decision.reason.to_wire()
    update: Json = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": tool_use_id,
        "_meta": meta(decision={"behavior": decision.behavior, "reason": reason}),
    }
    if decision.behavior == "allow":
        update["status"] = "in_progress"
    return update


def call_ended(
    name: str,
    result: ToolResult,
    *,
    outcome: str,
    data: Json,
    error: str | None = None,
    duration_ms: int | None = None,
    paths: Sequence[str] = (),
) -> Json:
    """A call has its result: text, the changed lines for our panel, whole texts if small."""
    diffs = diffs_of(name, data)
    texts = [block.text for block in result.content if isinstance(block, Text) and block.text]
    content: list[Json] = [
        {"type": "content", "content": {"type": "text", "text": text}} for text in texts
    ]
    content += [whole for diff in diffs if (whole := whole_texts(diff.path, data)) is not None]
    update: Json = {
        "sessionUpdate": "tool_call_update",
        "toolCallId": result.tool_use_id,
        "status": "completed" if outcome == "done" else "failed",
        "content": content,
        "_meta": meta(
            outcome=outcome,
            error=error,
            durationMs=duration_ms,
            exitCode=data.get("exitCode"),
            diffs=[diff.to_wire() for diff in diffs] or None,
        ),
    }
    if paths:
        update["locations"] = [{"path": path} for path in paths]
    return update


def diffs_of(name: str, data: Json) -> list[FileDiff]:
    """The lines that an Edit or a Write changed, from its structured result."""
    path = data.get("filePath")
    if kind_of(name) != "edit" or not isinstance(path, str):
        return []
    if data.get("type") == "create":
        return [difference(path, None, str(data.get("content", "")))]
    patch = data.get("structuredPatch")
    return [from_patch(path, cast(list[Any], patch))] if isinstance(patch, list) and patch else []


def whole_texts(path: str, data: Json) -> Json | None:
    """The protocol's own diff, for clients that know no lines; None where it would be large."""
    old = data.get("oldString", data.get("originalFile"))
    new = data.get("newString", data.get("content"))
    if not isinstance(new, str) or len(new) + len(old or "") > LARGEST_DIFF:
        return None
    diff: Json = {"type": "diff", "path": path, "newText": new}
    if isinstance(old, str):
        diff["oldText"] = old
    return diff


def replay(history: Sequence[Message], calls: Mapping[str, StoredCall]) -> Iterator[Json]:
    """A stored conversation as updates, in its order; a call without a result was stopped."""
    results: dict[str, ToolResult] = {}
    for message in history:
        if isinstance(message, UserMessage):
            for block in message.content:
                if isinstance(block, ToolResult):
                    results[block.tool_use_id] = block
    for message in history:
        if isinstance(message, UserMessage):
            yield from user_chunks(message)
        elif isinstance(message, AssistantMessage):
            yield from _replayed(message, results, calls)


def _replayed(
    message: AssistantMessage, results: Mapping[str, ToolResult], calls: Mapping[str, StoredCall]
) -> Iterator[Json]:
    for block in message.content:
        if isinstance(block, Text) and block.text:
            yield piece_of_answer(message.shown_as, block.text)
        elif isinstance(block, Thinking) and block.text:
            yield piece_of_thinking(message.id, block.text)
        elif isinstance(block, ToolUse):
            yield call_started(block, _summary(block))
            yield _replayed_end(block, results.get(block.id), calls.get(block.id))


def _replayed_end(call: ToolUse, result: ToolResult | None, stored: StoredCall | None) -> Json:
    if result is None:
        result = ToolResult(tool_use_id=call.id, content=(), is_error=True)
        return call_ended(call.name, result, outcome="stopped", data={})
    if stored is None:
        outcome = "failed" if result.is_error else "done"
        return call_ended(call.name, result, outcome=outcome, data={})
    return call_ended(
        call.name,
        result,
        outcome=stored.outcome,
        data=stored.data,
        duration_ms=stored.duration_ms,
    )


def _summary(call: ToolUse) -> str:
    """The line for people, from the input's most telling field."""
    for name in ("file_path", "command", "pattern", "path", "url"):
        value = call.input.get(name)
        if isinstance(value, str) and value:
            return value
    return ""
