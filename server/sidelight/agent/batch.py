"""The hooks after all calls of a step: PostToolBatch."""

from collections.abc import AsyncGenerator, Sequence

from sidelight.agent.stopping import told
from sidelight.agent.turn import Turn
from sidelight.core.content import AssistantBlock, Json, Text, ToolResult, ToolUse
from sidelight.core.events import Event
from sidelight.core.messages import Message, UserMessage

EVENT = "PostToolBatch"


async def after_batch(
    turn: Turn,
    blocks: Sequence[AssistantBlock],
    joined: Sequence[Message],
    said: list[str],
    halts: list[str],
) -> AsyncGenerator[Event, None]:
    """Fire PostToolBatch for the calls in `blocks`, whose results are in `joined`.

    What the model is to hear is put into `said`, why a hook ends the turn into `halts`.
    """
    if not turn.hooks.listens(EVENT):
        return
    results = {
        block.tool_use_id: block
        for message in joined
        if isinstance(message, UserMessage)
        for block in message.content
        if isinstance(block, ToolResult)
    }
    calls = [_call(block, results.get(block.id)) for block in blocks if isinstance(block, ToolUse)]
    outcome = await turn.hooks.fire(EVENT, {"tool_calls": calls}, "")
    for event in told(outcome):
        yield event
    said += [f"A {EVENT} hook says: {text}" for text in outcome.contexts]
    why = outcome.block if outcome.block is not None else outcome.stop
    if why is not None:
        halts.append(f"A {EVENT} hook ended the turn: {why}")


def _call(call: ToolUse, result: ToolResult | None) -> Json:
    fields: Json = {"tool_name": call.name, "tool_input": call.input, "tool_use_id": call.id}
    if result is not None:
        texts = (block.text for block in result.content if isinstance(block, Text))
        fields["tool_response"] = "\n".join(texts)
    return fields
