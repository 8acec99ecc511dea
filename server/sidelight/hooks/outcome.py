"""What hooks answer: reading one answer, and joining the answers of all that ran."""

import json
import re
import signal
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from sidelight.core.content import Json
from sidelight.core.events import HookEnded
from sidelight.core.record import Record
from sidelight.hooks.events import HookEvent
from sidelight.process.run import Finished

Permission = Literal["allow", "deny", "ask"]
STRICTNESS: tuple[Permission, ...] = ("deny", "ask", "allow")

# An interpreter that does not find its script may exit with 2 as well; that is no decision.
_NO_SCRIPT = re.compile(
    r"^\S*(?:python\S*: can't open file |sh: 0: can(?:no|')t open )|^Can't open perl script ",
    re.IGNORECASE,
)


class HookOutcome(Record):
    """What all hooks of one event said together.

    `contexts` are for the model, `messages` for the person; `stop` ends the turn, `block` is what
    the model is told when a hook objects. `watch_paths` replaces the list of further watched
    files.
    """

    permission: Permission | None = None
    reason: str | None = None
    updated_input: Json | None = None
    updated_output: Json | str | None = None
    contexts: tuple[str, ...] = ()
    messages: tuple[str, ...] = ()
    stop: str | None = None
    block: str | None = None
    watch_paths: tuple[str, ...] | None = None
    runs: tuple[HookEnded, ...] = ()


class _Answer(BaseModel):
    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, extra="ignore", strict=True, validate_by_name=True
    )


class _Specific(_Answer):
    hook_event_name: str
    permission_decision: Literal["allow", "deny", "ask", "defer"] | None = None
    permission_decision_reason: str | None = None
    updated_input: Json | None = None
    additional_context: str | None = None
    updated_tool_output: Json | str | None = None
    watch_paths: list[str] | None = None


class _Said(_Answer):
    """The JSON of one hook, the short form included."""

    go_on: Annotated[bool, Field(alias="continue")] = True
    stop_reason: str | None = None
    system_message: str | None = None
    decision: Literal["block", "approve"] | None = None
    reason: str | None = None
    hook_specific_output: _Specific | None = None
    blocked: bool = False
    input: Json | None = None
    output: Json | str | None = None
    message: str | None = None


def read_answer(event: HookEvent, label: str, done: Finished, fail_closed: bool) -> HookOutcome:
    """One hook's answer by its exit code and output; `label` names the hook in what is told."""
    ended = _Ended(event, label, done, fail_closed)
    if done.timed_out:
        return ended.failed(f"took longer than {done.duration_s:.1f} s and was ended", "timeout")
    if done.signal is not None:
        return ended.failed(f"was ended by {signal.Signals(done.signal).name}")
    text = done.stdout.decode("utf-8", "replace").strip()
    said, fault = _parse(text, event)
    if done.exit_code == 2 and not _is_missing_script(done):
        reason = _own_reason(said) or done.stderr.decode("utf-8", "replace").strip()
        return ended.refused(reason or "it gave no reason", said)
    if said is not None:
        return ended.answered(said)
    if done.exit_code == 0 and not fault:
        contexts = (text,) if text and event.plain_text else ()
        return HookOutcome(contexts=contexts, runs=(ended.run("ok", text),))
    return ended.failed(_failure(done, fault))


def _failure(done: Finished, fault: str) -> str:
    if done.exit_code != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"exited with code {done.exit_code}{f': {lines[0]}' if lines else ''}"
    cut = "; it said too much to be kept whole" if done.truncated else ""
    return f"answered what is not understood: {fault}{cut}"


def not_started(event: HookEvent, label: str, why: str, fail_closed: bool) -> HookOutcome:
    """The answer in place of a hook that could not be started."""
    done = Finished(None, None, b"", b"", False, 0, False, False)
    return _Ended(event, label, done, fail_closed).failed(f"did not run: {why}")


def combine(outcomes: Sequence[HookOutcome], tidy: Callable[[str], str]) -> HookOutcome:
    """Join answers in the order of the hooks: the strictest permission, the last rewriting.

    `tidy` is applied to every text: it hides secrets and cuts what is too long.
    """
    given = {outcome.permission for outcome in outcomes}
    permission: Permission | None = next((kind for kind in STRICTNESS if kind in given), None)
    reasons = [o.reason for o in outcomes if o.reason and o.permission == permission]
    blocks = [o.block for o in outcomes if o.block]
    stops = [o.stop for o in outcomes if o.stop is not None]
    watched = [o.watch_paths for o in outcomes if o.watch_paths is not None]
    inputs = [o.updated_input for o in outcomes if o.updated_input is not None]
    outputs = [o.updated_output for o in outcomes if o.updated_output is not None]
    return HookOutcome(
        permission=permission,
        reason=tidy("\n".join(reasons)) if reasons else None,
        updated_input=inputs[-1] if inputs else None,
        updated_output=outputs[-1] if outputs else None,
        contexts=tuple(tidy(text) for o in outcomes for text in o.contexts),
        messages=tuple(tidy(text) for o in outcomes for text in o.messages),
        stop=tidy(stops[0]) if stops else None,
        block=tidy("\n".join(blocks)) if blocks else None,
        watch_paths=tuple(dict.fromkeys(p for paths in watched for p in paths))
        if watched
        else None,
        runs=tuple(
            run.model_copy(update={"detail": tidy(run.detail), "command": tidy(run.command)})
            for o in outcomes
            for run in o.runs
        ),
    )


class _Ended:
    """One run that is over, and the ways to make an outcome of it."""

    def __init__(self, event: HookEvent, label: str, done: Finished, fail_closed: bool) -> None:
        self._event = event
        self._label = label
        self._done = done
        self._fail_closed = fail_closed and event.name not in {"Stop", "SubagentStop"}

    def run(self, outcome: Literal["ok", "blocked", "failed", "timeout"], detail: str) -> HookEnded:
        return HookEnded(
            event=self._event.name,
            command=self._label,
            outcome=outcome,
            detail=detail,
            duration_ms=int(self._done.duration_s * 1000),
        )

    def failed(self, why: str, outcome: Literal["failed", "timeout"] = "failed") -> HookOutcome:
        """No decision: the act goes on, unless the hook was told to fail closed."""
        told = f"The hook {self._label} ({self._event.name}) {why}."
        if self._fail_closed and self._event.refusal != "tell":
            refusal = self.refused(why, None)
            return refusal.model_copy(
                update={"messages": (told,), "runs": (self.run(outcome, why),)}
            )
        return HookOutcome(
            messages=(f"{told} It decided nothing.",), runs=(self.run(outcome, why),)
        )

    def refused(self, reason: str, said: _Said | None) -> HookOutcome:
        """Exit code 2: what the JSON says otherwise still counts, but cannot undo it."""
        base = self.answered(said) if said is not None else HookOutcome()
        update: dict[str, Any] = {"runs": (self.run("blocked", reason),), "updated_input": None}
        if self._event.refusal == "deny":
            update |= {"permission": "deny", "reason": self._named(reason), "block": None}
        elif self._event.refusal == "block":
            update["block"] = reason
        else:
            update["messages"] = (*base.messages, self._named(reason))
        return base.model_copy(update=update)

    def answered(self, said: _Said) -> HookOutcome:
        """What a hook's JSON says."""
        specific = said.hook_specific_output
        permission, reason = self._decision(said)
        objects = said.decision == "block" or said.blocked
        blocks = objects and self._event.refusal == "block"
        contexts = [specific.additional_context if specific else None, said.message]
        messages = [said.system_message, said.message]
        if specific and specific.permission_decision == "defer":
            messages.append(f"The hook {self._label} defers, which is not supported yet: asking.")
        if objects and self._event.refusal == "tell":
            messages.append(self._named(said.reason or "it objects"))
        refused = permission == "deny" or blocks
        outputs = (specific.updated_tool_output if specific else None, said.output)
        return HookOutcome(
            permission=permission,
            reason=reason,
            updated_input=(specific.updated_input if specific else None) or said.input,
            updated_output=next((text for text in outputs if text is not None), None),
            contexts=tuple(text for text in contexts if text),
            messages=tuple(text for text in messages if text),
            stop=None if said.go_on else said.stop_reason or "a hook ended the turn",
            block=(said.reason or "a hook objects and gave no reason") if blocks else None,
            watch_paths=tuple(specific.watch_paths)
            if specific and specific.watch_paths is not None
            else None,
            runs=(self.run("blocked" if refused else "ok", said.reason or reason or ""),),
        )

    def _decision(self, said: _Said) -> tuple[Permission | None, str | None]:
        if self._event.refusal != "deny":
            return None, None
        specific = said.hook_specific_output
        if specific and specific.permission_decision:
            asked = specific.permission_decision
            reason = specific.permission_decision_reason
            kind: Permission = "ask" if asked == "defer" else asked
            return kind, self._named(reason or "it gave no reason")
        if said.decision == "block" or said.blocked:
            return "deny", self._named(said.reason or "it gave no reason")
        if said.decision == "approve":
            return "allow", self._named(said.reason or "it gave no reason")
        return None, None

    def _named(self, reason: str) -> str:
        return f"{reason} (said by the hook {self._label})"


def _parse(text: str, event: HookEvent) -> tuple[_Said | None, str]:
    """The answer as JSON, or None with what is wrong with it; plain text has no fault."""
    if not text.startswith("{"):
        return None, ""
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None, "" if event.plain_text else "it begins like JSON but is none"
    try:
        said = _Said.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        return None, f"{where}: {first['msg'].lower()}"
    specific = said.hook_specific_output
    if specific and specific.hook_event_name not in {event.name, event.older_for}:
        return None, f"hookSpecificOutput is for {specific.hook_event_name}"
    return said, ""


def _own_reason(said: _Said | None) -> str | None:
    if said is None:
        return None
    specific = said.hook_specific_output
    return said.reason or (specific.permission_decision_reason if specific else None)


def _is_missing_script(done: Finished) -> bool:
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return not done.stdout.strip() and len(lines) == 1 and bool(_NO_SCRIPT.search(lines[0]))
