"""A question to the person, with the events that tell of it."""

import anyio

from sidelight.core.errors import HostError
from sidelight.core.events import QuestionAnswered, QuestionAsked, Sink
from sidelight.core.host import Host, UserQuestion


async def ask(question: UserQuestion, host: Host, tell: Sink) -> str | None:
    """The chosen option's id; None when it was closed or nobody is there. Cancelling closes it."""
    await tell(QuestionAsked(question=question))
    answer: str | None = None
    try:
        answer = await host.ask_user(question)
    except HostError:
        pass  # nobody is there
    finally:
        with anyio.CancelScope(shield=True):
            await tell(QuestionAnswered(question_id=question.id, option=answer))
    return answer
