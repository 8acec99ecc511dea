"""Turns an `Ask` into an answer: the host's dialog, and what the person wants remembered."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.agent.stream import Emit
from sidelight.agent.turn import Turn
from sidelight.core.access import Access
from sidelight.core.content import ToolUse
from sidelight.core.decision import Allow, Ask, Decision, Deny, Reason
from sidelight.core.errors import HostError, ToolError
from sidelight.core.events import PermissionAsked
from sidelight.core.host import FileEdit, PermissionPrompt, PermissionReply
from sidelight.core.ids import new_id
from sidelight.core.tool import AnyTool, ToolContext

DENIED = (
    "The user denied this call. Do not repeat it and do not try another way to the same effect; "
    "wait for what the user says next."
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The final decision; `stop` when a person said no without a word, which ends the turn."""

    decision: Decision
    stop: bool = False


async def authorize(
    decision: Decision,
    call: ToolUse,
    turn: Turn,
    context: ToolContext,
    emit: Emit,
    accesses: Sequence[Access],
) -> Verdict:
    """Ask the person where the rules left it open; raises ToolError when the edit cannot apply.

    A call that could not be carried out anyway is refused before anybody is asked.
    """
    if not isinstance(decision, Ask):
        return Verdict(decision)
    tool = turn.tools[call.name]
    prompt = PermissionPrompt(
        id=new_id(),
        call=call,
        title=tool.summary(tool.input_type.model_validate(call.input)),
        reason=decision.reason,
        accesses=tuple(accesses),
        preview=tuple(await _preview(tool, call, context)),
        suggestions=decision.suggestions,
        dangerous=decision.dangerous,
    )
    await emit(PermissionAsked(prompt=prompt))
    try:
        reply = await context.host.ask_permission(prompt)
    except HostError as error:
        raise ToolError(f"Nobody could be asked: {error}", "denied_by_person") from error
    if reply.remember:
        await turn.rules.remember(reply.remember)
    return _verdict(reply)


async def _preview(tool: AnyTool, call: ToolUse, context: ToolContext) -> Sequence[FileEdit]:
    return await tool.preview(tool.input_type.model_validate(call.input), context)


def _verdict(reply: PermissionReply) -> Verdict:
    reason = Reason(layer="person", detail=reply.feedback)
    if reply.behavior == "allow":
        return Verdict(Allow(reason=reason, updated_input=reply.updated_input))
    if not reply.feedback:
        return Verdict(Deny(reason=reason, message=DENIED), stop=True)
    message = f"The user denied this call and said: {reply.feedback}"
    return Verdict(Deny(reason=reason, message=message))
