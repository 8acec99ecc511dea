"""One tool call's life, top to bottom: validate, hooks before, permission, run, hooks after."""

import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import cast

from pydantic import ValidationError

from sidelight.agent.authorize import authorize
from sidelight.agent.executor import CallOutcome
from sidelight.agent.stream import Emit
from sidelight.agent.turn import Turn
from sidelight.context.reminders import wrap
from sidelight.core.access import Access
from sidelight.core.content import Json, Text, ToolResult, ToolUse
from sidelight.core.decision import Allow, Deny
from sidelight.core.errors import HostError, ToolError
from sidelight.core.events import (
    Notice,
    PermissionDecided,
    ToolCallEnded,
    ToolCallStarted,
    ToolProgress,
)
from sidelight.core.record import PlainRecord
from sidelight.core.tool import AnyTool, Progress, Shell, ToolContext, ToolOutput
from sidelight.hooks.outcome import HookOutcome
from sidelight.permissions.pipeline import Question, decide

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call whose tool was found, whose input is valid and whose reach is known."""

    call: ToolUse
    tool: AnyTool
    input: PlainRecord
    accesses: tuple[Access, ...]

    @property
    def changes(self) -> bool:
        """Whether it must run alone."""
        return any(access.mutates for access in self.accesses)


def prepare(call: ToolUse, tools: Mapping[str, AnyTool], shell: Shell) -> Prepared:
    """Find the tool and check the input; raises ToolError written for the model."""
    tool = tools.get(call.name)
    if tool is None:
        names = ", ".join(sorted(tools))
        raise ToolError(f"There is no tool {call.name!r}. The tools are: {names}.", "invalid_input")
    try:
        input = tool.input_type.model_validate(call.input)
    except ValidationError as error:
        raise ToolError(_explain(call.name, error), "invalid_input") from error
    return Prepared(call, tool, input, tuple(tool.touches(input, shell)))


def changes(call: ToolUse, tools: Mapping[str, AnyTool], shell: Shell) -> bool:
    """Whether the call must run alone; a call that is refused anyway need not."""
    try:
        return prepare(call, tools, shell).changes
    except ToolError:
        return False


async def run_call(call: ToolUse, turn: Turn, emit: Emit) -> CallOutcome:
    """Take one call from its block to its result; never raises but for cancellation."""
    began = time.monotonic()
    context = turn.context_for(call.id)
    ended = _Ended(call, emit, began)
    try:
        prepared = prepare(call, turn.tools, context.shell)
        return await _judge_and_run(prepared, turn, context, emit, ended)
    except ToolError as error:
        return await ended.as_failed(error.message)
    except HostError as error:
        return await ended.as_failed(f"The editor did not do it: {error}")
    except Exception as error:
        log.exception("tool %s failed in session %s", call.name, context.session_id)
        return await ended.as_failed(
            f"{call.name} failed by a fault of its own ({type(error).__name__}). "
            "Try another way, and tell the user about it."
        )


async def _judge_and_run(
    prepared: Prepared, turn: Turn, context: ToolContext, emit: Emit, ended: "_Ended"
) -> CallOutcome:
    call = prepared.call
    await emit(ToolCallStarted(call=call, summary=prepared.tool.summary(prepared.input)))
    before = await turn.hooks.fire("PreToolUse", hook_fields(call), call.name)
    await _tell(before, emit)
    if before.stop is not None:
        return await ended.as_denied(f"A hook stopped the turn: {before.stop}", stop=True)
    originals = prepared.accesses
    if before.updated_input is not None:
        prepared = prepare(
            call.model_copy(update={"input": before.updated_input}), turn.tools, context.shell
        )
    question = Question(
        tool=call.name,
        input=prepared.call.input,
        accesses=_both(originals, prepared.accesses),
        hook=before.permission,
        hook_reason=before.reason,
        interactive=True,
    )
    verdict = await authorize(
        decide(question, turn.rules.policy), prepared.call, turn, context, emit, prepared.accesses
    )
    await emit(PermissionDecided(tool_use_id=call.id, decision=verdict.decision))
    if isinstance(verdict.decision, Deny):
        return await ended.as_denied(verdict.decision.message, before.contexts, stop=verdict.stop)
    if isinstance(verdict.decision, Allow) and verdict.decision.updated_input is not None:
        edited = prepared.call.model_copy(update={"input": verdict.decision.updated_input})
        prepared = prepare(edited, turn.tools, context.shell)
    return await _run(prepared, turn, context, emit, ended, before)


async def _run(
    prepared: Prepared,
    turn: Turn,
    context: ToolContext,
    emit: Emit,
    ended: "_Ended",
    before: HookOutcome,
) -> CallOutcome:
    call = prepared.call
    try:
        output = await _last_output(prepared, context, emit)
    except ToolError as error:
        after = await turn.hooks.fire(
            "PostToolUseFailure", {**hook_fields(call), "error": error.message}, call.name
        )
        await _tell(after, emit)
        return await ended.as_failed(error.message, (*before.contexts, *after.contexts))
    extra = {**hook_fields(call), "tool_response": output.data, "duration_ms": ended.elapsed()}
    after = await turn.hooks.fire("PostToolUse", extra, call.name)
    await _tell(after, emit)
    beside = [*before.contexts, *after.contexts]
    if after.block is not None:
        beside.append(f"A hook objects to this result: {after.block}")
    return await ended.as_done(output, beside, stop=after.stop is not None)


async def _last_output(prepared: Prepared, context: ToolContext, emit: Emit) -> ToolOutput:
    output: ToolOutput | None = None
    running = cast(
        "AsyncGenerator[Progress | ToolOutput, None]", prepared.tool.run(prepared.input, context)
    )
    async with aclosing(running):
        async for item in running:
            if isinstance(item, Progress):
                await emit(ToolProgress(tool_use_id=prepared.call.id, text=item.text))
            else:
                output = item
    if output is None:
        raise RuntimeError(f"{prepared.tool.name} ended without an output")
    return output


@dataclass(frozen=True, slots=True)
class _Ended:
    """Turns an end into the event and the outcome; one a call."""

    call: ToolUse
    emit: Emit
    began: float

    def elapsed(self) -> int:
        return int((time.monotonic() - self.began) * 1000)

    async def as_done(
        self, output: ToolOutput, beside: Sequence[str], *, stop: bool
    ) -> CallOutcome:
        content = (*output.content, *(Text(text=wrap(text)) for text in beside))
        result = ToolResult(tool_use_id=self.call.id, content=content, is_error=output.is_error)
        await self.emit(
            ToolCallEnded(
                name=self.call.name,
                result=result,
                outcome="failed" if output.is_error else "done",
                paths_changed=output.paths_changed,
                data=output.data,
                duration_ms=self.elapsed(),
            )
        )
        return CallOutcome(result, stop)

    async def as_failed(self, message: str, beside: Sequence[str] = ()) -> CallOutcome:
        return await self._as_error(message, beside, "failed", stop=False)

    async def as_denied(
        self, message: str, beside: Sequence[str] = (), *, stop: bool
    ) -> CallOutcome:
        return await self._as_error(message, beside, "denied", stop=stop)

    async def _as_error(
        self, message: str, beside: Sequence[str], outcome: str, *, stop: bool
    ) -> CallOutcome:
        content = (Text(text=message), *(Text(text=wrap(text)) for text in beside))
        result = ToolResult(tool_use_id=self.call.id, content=content, is_error=True)
        event = ToolCallEnded.model_validate(
            {
                "name": self.call.name,
                "result": result,
                "outcome": outcome,
                "duration_ms": self.elapsed(),
            }
        )
        await self.emit(event)
        return CallOutcome(result, stop)


def hook_fields(call: ToolUse) -> Json:
    """What every hook of a tool reads about the call."""
    return {"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id}


async def _tell(outcome: HookOutcome, emit: Emit) -> None:
    for run in outcome.runs:
        await emit(run)
    for message in outcome.messages:
        await emit(Notice(severity="info", text=message))


def _both(before: tuple[Access, ...], after: tuple[Access, ...]) -> tuple[Access, ...]:
    """The reach of a call and of what a hook made of it: deny rules must see both."""
    return before if before == after else (*before, *after)


def _explain(name: str, error: ValidationError) -> str:
    problems = [
        f"{'.'.join(map(str, item['loc'])) or 'input'}: {item['msg']}"
        for item in error.errors(include_url=False, include_context=False, include_input=False)
    ]
    return f"The input of {name} is not valid. Correct it and call again. " + "; ".join(problems)
