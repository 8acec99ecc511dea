"""One tool call's life, top to bottom: validate, hooks before, permission, run, hooks after."""

import json
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal, cast

from sidelight.agent.authorize import ask, ask_to_go_on
from sidelight.agent.executor import CallOutcome
from sidelight.agent.large import kept_small
from sidelight.agent.prepared import Prepared, prepare, with_input
from sidelight.agent.stream import Emit
from sidelight.agent.turn import Turn
from sidelight.core.content import Json, Text, ToolResult, ToolUse
from sidelight.core.decision import Ask, Deny
from sidelight.core.errors import HostError, ToolError, ToolErrorKind
from sidelight.core.events import (
    Notice,
    PermissionDecided,
    ToolCallEnded,
    ToolCallStarted,
    ToolProgress,
)
from sidelight.core.tool import Progress, ToolContext, ToolOutput
from sidelight.hooks.outcome import HookOutcome
from sidelight.permissions.pipeline import decide
from sidelight.permissions.question import Question
from sidelight.tools.registry import present_name

log = logging.getLogger(__name__)

DENIED_BY: dict[str, ToolErrorKind] = {"person": "denied_by_person", "hook": "denied_by_hook"}
"""The class of a denial, by the layer that gave it; all others are rules and modes."""


async def run_call(call: ToolUse, turn: Turn, emit: Emit) -> CallOutcome:
    """Take one call from its block to its result; never raises but for cancellation."""
    # A guard is set on the tool's present name; a former one must not get past it.
    call = call.model_copy(update={"name": present_name(call.name)})
    life = _Life(call, turn, turn.context_for(call.id), emit, time.monotonic())
    outcome = await _lived(life)
    turn.repeats.note(call, failed=outcome.result.is_error)
    return outcome


async def _lived(life: "_Life") -> CallOutcome:
    call = life.call
    try:
        return await life.run()
    except ToolError as error:
        return await life.end_badly(error.message, error.kind)
    except HostError as error:
        return await life.end_badly(f"The editor did not do it: {error}", "failed")
    except Exception as error:
        log.exception("tool %s failed in session %s", call.name, life.context.session_id)
        return await life.end_badly(
            f"{call.name} failed by a fault of its own ({type(error).__name__}). "
            "Try another way, and tell the user about it.",
            "bug",
        )


@dataclass(frozen=True, slots=True)
class _Life:
    """A call on its way; each method is one station."""

    call: ToolUse
    turn: Turn
    context: ToolContext
    emit: Emit
    began: float

    async def run(self) -> CallOutcome:
        why = self.turn.repeats.question(self.call)
        if why is not None:
            refused = await ask_to_go_on(self.call, why, self.turn, self.context, self.emit)
            if refused is not None:
                return await self.end_badly(refused[0], refused[2], stop=refused[1])
        first = prepare(self.call, self.turn.tools, self.context.shell)
        summary = first.tool.summary(first.parsed)
        await self.emit(ToolCallStarted(call=self.call, summary=summary))
        before = await self._fire("PreToolUse", first, {})
        if before.stop is not None:
            said = await self._stopped_by_a_hook(before.stop)
            return await self.end_badly(said, "denied_by_hook", stop="")
        judged = first
        if before.updated_input is not None:
            judged = self._with_input(first, before.updated_input)
        allowed = await self._permit(first, judged, before)
        if isinstance(allowed, CallOutcome):
            return allowed
        return await self._carry_out(allowed, before.contexts)

    async def _permit(
        self, first: Prepared, judged: Prepared, before: HookOutcome
    ) -> Prepared | CallOutcome:
        """The call as it may run, or its end; a hook's new input is judged, and so is the old."""
        both = judged.accesses if judged is first else (*first.accesses, *judged.accesses)
        question = Question(
            tool=judged.tool.name,
            input=judged.call.input,
            accesses=both,
            hook=before.permission,
            hook_reason=before.reason or "",
        )
        decision = decide(question, self.turn.rules.policy)
        stop: str | None = None
        if isinstance(decision, Ask):
            decision, stop = await ask(decision, judged, self.context, self.turn.rules, self.emit)
        await self.emit(PermissionDecided(tool_use_id=self.call.id, decision=decision))
        if isinstance(decision, Deny):
            kind = DENIED_BY.get(decision.reason.layer, "denied_by_rule")
            return await self.end_badly(decision.message, kind, before.contexts, stop=stop)
        if decision.updated_input is not None:
            judged = self._with_input(judged, decision.updated_input)
        return judged

    async def _carry_out(self, prepared: Prepared, beside: Sequence[str]) -> CallOutcome:
        stood = self.context.shell.cwd
        try:
            output = await kept_small(await self._last_output(prepared), self.context)
        except ToolError as error:
            after = await self._failed(prepared, error.message, error.kind)
            return await self.end_badly(error.message, error.kind, (*beside, *after.contexts))
        if output.is_error:
            after = await self._failed(prepared, _text_of(output), output.error or "failed")
        else:
            extra = {"tool_response": output.data, "duration_ms": self._elapsed()}
            after = await self._fire("PostToolUse", prepared, extra)
        if output.cwd is not None and output.cwd != stood:
            await self._moved(stood, output.cwd)
        beside = [*beside, *after.contexts]
        if after.block is not None:
            beside.append(f"A hook objects to this result: {after.block}")
        if after.updated_output is not None:
            output = _replaced(output, after.updated_output)
        outcome = "failed" if output.is_error else "done"
        if after.stop is not None:
            await self._stopped_by_a_hook(after.stop)
        stop = None if after.stop is None else ""
        kind = (output.error or "failed") if output.is_error else None
        return await self._end(output, outcome, beside, stop=stop, kind=kind)

    async def _failed(self, prepared: Prepared, message: str, kind: ToolErrorKind) -> HookOutcome:
        extra = {"error": message, "error_class": kind, "duration_ms": self._elapsed()}
        return await self._fire("PostToolUseFailure", prepared, extra)

    async def _stopped_by_a_hook(self, why: str) -> str:
        """Tell the person; that a hook ends a turn is no error."""
        said = f"A hook stopped the turn: {why}"
        await self.emit(Notice(severity="info", text=said))
        return said

    async def _moved(self, old_cwd: str, new_cwd: str) -> None:
        """The shell stands elsewhere: its hooks run, and names to watch mean other files."""
        outcome = await self.turn.hooks.fire(
            "CwdChanged", {"old_cwd": old_cwd, "new_cwd": new_cwd}, ""
        )
        await self._tell(outcome)
        await self.context.host.watch(self.turn.hooks.watch_list())

    async def _last_output(self, prepared: Prepared) -> ToolOutput:
        output: ToolOutput | None = None
        running = cast(
            "AsyncGenerator[Progress | ToolOutput, None]",
            prepared.tool.run(prepared.parsed, self.context),
        )
        async with aclosing(running):
            async for item in running:
                if isinstance(item, Progress):
                    await self.emit(ToolProgress(tool_use_id=self.call.id, text=item.text))
                else:
                    output = item
        if output is None:
            raise RuntimeError(f"{prepared.tool.name} ended without an output")
        return output

    async def _fire(self, event: str, prepared: Prepared, extra: Json) -> HookOutcome:
        fields: Json = {
            "tool_name": self.call.name,
            "tool_input": prepared.told,
            "tool_use_id": self.call.id,
        }
        outcome = await self.turn.hooks.fire(event, {**fields, **extra}, self.call.name)
        await self._tell(outcome)
        return outcome

    async def _tell(self, outcome: HookOutcome) -> None:
        for run in outcome.runs:
            await self.emit(run)
        for message in outcome.messages:
            await self.emit(Notice(severity="info", text=message))

    def _with_input(self, prepared: Prepared, new: Json) -> Prepared:
        return with_input(prepared, new, self.turn.tools, self.context.shell)

    def _elapsed(self) -> int:
        return int((time.monotonic() - self.began) * 1000)

    async def end_badly(
        self,
        message: str,
        kind: ToolErrorKind,
        beside: Sequence[str] = (),
        *,
        stop: str | None = None,
    ) -> CallOutcome:
        output = ToolOutput.of(message, is_error=True)
        outcome = "denied" if kind.startswith("denied") else "failed"
        return await self._end(output, outcome, beside, stop=stop, kind=kind)

    async def _end(
        self,
        output: ToolOutput,
        outcome: Literal["done", "failed", "denied"],
        beside: Sequence[str],
        *,
        stop: str | None,
        kind: ToolErrorKind | None,
    ) -> CallOutcome:
        result = ToolResult(
            tool_use_id=self.call.id, content=output.content, is_error=output.is_error
        )
        await self.emit(
            ToolCallEnded(
                name=self.call.name,
                result=result,
                outcome=outcome,
                error=kind,
                paths_changed=output.paths_changed,
                data=output.data,
                duration_ms=self._elapsed(),
            )
        )
        return CallOutcome(result, stop, tuple(beside))


def _text_of(output: ToolOutput) -> str:
    return "\n".join(block.text for block in output.content if isinstance(block, Text))


def _replaced(output: ToolOutput, new: Json | str) -> ToolOutput:
    """The output as a hook wants it shown: text as it is, an object as JSON."""
    text = new if isinstance(new, str) else json.dumps(new, ensure_ascii=False)
    data = output.data if isinstance(new, str) else new
    return output.model_copy(update={"content": (Text(text=text),), "data": data})
