"""The hooks around a request to the model: PreSampling and PostSampling."""

from collections.abc import AsyncGenerator

from sidelight.agent.stopping import told
from sidelight.agent.stream import Response
from sidelight.agent.turn import Turn
from sidelight.core.content import Json
from sidelight.core.events import Event
from sidelight.core.model import ModelRequest
from sidelight.core.tokens import estimate


async def before_sampling(
    turn: Turn, request: ModelRequest, halts: list[str]
) -> AsyncGenerator[Event, None]:
    """Fire PreSampling; why a hook ends the turn is put into `halts`. `tokens` are an estimate."""
    if turn.hooks.listens("PreSampling"):
        fields = {**_about(request), "tokens": estimate(request.model_dump_json())}
        async for event in _fired(turn, "PreSampling", fields, halts):
            yield event


async def after_sampling(
    turn: Turn, request: ModelRequest, response: Response, halts: list[str]
) -> AsyncGenerator[Event, None]:
    """Fire PostSampling; `tokens` are those of prompt and answer, as they are paid for."""
    if turn.hooks.listens("PostSampling"):
        spent = response.spent
        fields = {**_about(request), "tokens": spent.context_tokens + spent.output_tokens}
        if response.message is not None:
            fields["stop_reason"] = response.message.stop_reason
        async for event in _fired(turn, "PostSampling", fields, halts):
            yield event


def _about(request: ModelRequest) -> Json:
    return {"model": request.model, "message_count": len(request.messages)}


async def _fired(
    turn: Turn, event: str, fields: Json, halts: list[str]
) -> AsyncGenerator[Event, None]:
    outcome = await turn.hooks.fire(event, fields, "")
    for each in told(outcome):
        yield each
    if outcome.stop is not None:
        halts.append(f"A {event} hook ended the turn: {outcome.stop}")
