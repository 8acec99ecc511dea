"""Turns an `Ask` into an answer: the host's dialog, and what the person wants remembered."""

import logging

from sidelight.agent.prepared import Prepared
from sidelight.agent.stream import Emit
from sidelight.agent.turn import Rules, Turn
from sidelight.core.content import ToolUse
from sidelight.core.decision import Allow, Ask, Deny, Reason
from sidelight.core.errors import HostError, ToolError, ToolErrorKind
from sidelight.core.events import PermissionAsked
from sidelight.core.host import PermissionPrompt, PermissionReply
from sidelight.core.ids import new_id
from sidelight.core.tool import ToolContext

log = logging.getLogger(__name__)

DENIED = (
    "The user denied this call. Do not repeat it and do not try another way to the same effect; "
    "wait for what the user says next."
)

GO_ON = "{why} It was not run again. Use what you know already, or do something else."
NO_END = (
    "{why} The turn ends, so that it does not go on for ever. Say what to do instead, "
    "or allow the call when you are asked."
)


async def ask(
    decision: Ask, prepared: Prepared, context: ToolContext, rules: Rules, emit: Emit
) -> tuple[Allow | Deny, str | None]:
    """Ask the person; a text beside a denial ends the turn, empty if no more is to be said.

    A call that could not be carried out anyway raises ToolError before anybody is asked.
    Cancelling closes the dialog.
    """
    prompt = PermissionPrompt(
        id=new_id(),
        call=prepared.call,
        title=prepared.tool.summary(prepared.parsed),
        reason=decision.reason,
        accesses=prepared.accesses,
        preview=tuple(await prepared.tool.preview(prepared.parsed, context)),
        suggestions=decision.suggestions,
        dangerous=decision.dangerous,
    )
    await emit(PermissionAsked(prompt=prompt))
    try:
        reply = await context.host.ask_permission(prompt)
    except HostError as error:
        raise ToolError(f"Nobody could be asked: {error}", "denied_by_person") from error
    if reply.remember:
        await rules.remember(reply.remember)
    reason = Reason(layer="person", detail=reply.feedback)
    if reply.behavior == "allow":
        return Allow(reason=reason, updated_input=reply.updated_input), None
    if not reply.feedback:
        return Deny(reason=reason, message=DENIED), ""
    message = f"The user denied this call and said: {reply.feedback}"
    return Deny(reason=reason, message=message), None


async def ask_to_go_on(
    call: ToolUse, why: str, turn: Turn, context: ToolContext, emit: Emit
) -> tuple[str, str | None, ToolErrorKind] | None:
    """Ask whether a call that was repeated may run once more; None if it may.

    Else what the model is told, the text that ends the turn, if it does, and the class. Where
    nobody can be asked, the model is told once; the next equal call ends the turn.
    """
    prompt = PermissionPrompt(
        id=new_id(), call=call, title=call.name, reason=Reason(layer="limit", detail=why)
    )
    reply = PermissionReply(behavior="deny", feedback=GO_ON.format(why=why))
    if turn.rules.policy.mode != "dontAsk":
        await emit(PermissionAsked(prompt=prompt))
        try:
            reply = await context.host.ask_permission(prompt)
        except HostError:
            log.info("nobody could be asked about a repeated call of %s", call.name)
    if reply.behavior == "allow":
        turn.repeats.allowed()
        return None
    if not reply.feedback:
        return DENIED, "", "denied_by_person"
    stop = NO_END.format(why=why) if turn.repeats.refused() else None
    asked = turn.rules.policy.mode != "dontAsk"
    kind: ToolErrorKind = "denied_by_person" if asked else "denied_by_rule"
    return f"{GO_ON.format(why=why)}\n{reply.feedback}", stop, kind
