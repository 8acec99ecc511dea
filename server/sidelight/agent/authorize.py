"""Turns an `Ask` into an answer: the host's dialog, and what the person wants remembered."""

from sidelight.agent.prepared import Prepared
from sidelight.agent.stream import Emit
from sidelight.agent.turn import Rules
from sidelight.core.decision import Allow, Ask, Deny, Reason
from sidelight.core.errors import HostError, ToolError
from sidelight.core.events import PermissionAsked
from sidelight.core.host import PermissionPrompt
from sidelight.core.ids import new_id
from sidelight.core.tool import ToolContext

DENIED = (
    "The user denied this call. Do not repeat it and do not try another way to the same effect; "
    "wait for what the user says next."
)


async def ask(
    decision: Ask, prepared: Prepared, context: ToolContext, rules: Rules, emit: Emit
) -> tuple[Allow | Deny, bool]:
    """Ask the person; True beside a denial without a word, which ends the turn.

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
        return Allow(reason=reason, updated_input=reply.updated_input), False
    if not reply.feedback:
        return Deny(reason=reason, message=DENIED), True
    message = f"The user denied this call and said: {reply.feedback}"
    return Deny(reason=reason, message=message), False
