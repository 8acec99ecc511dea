"""Which model answers, or what there is instead; mirrored in `client-vscode/src/protocol.ts`."""

from sidelight.core.record import Record


class SmallModel(Record):
    """The optional small model, while there is none for the agent.

    `ready` says that its four actions work; else it is an offer, to be accepted by
    `sidelight local install` once the person has seen size (megabytes), licence and place.
    """

    ready: bool
    title: str
    megabytes: int
    licence: str
    place: str


class ModelInfo(Record):
    """A model as a person picks it."""

    model_id: str
    name: str
    description: str | None = None


class Connection(Record):
    """`_sidelight/connection` (notification, and answer of `_sidelight/connect`).

    Which model answers and by which source; without one, `problem` says what to do next.
    `demonstration` is true when replies were written beforehand. `models` are those that may be
    picked; `small` is there only without a model for the agent.
    """

    ready: bool
    model: str | None = None
    source: str | None = None
    problem: str | None = None
    tried: tuple[str, ...] = ()
    demonstration: bool = False
    models: tuple[ModelInfo, ...] = ()
    small: SmallModel | None = None


class Connect(Record):
    """`_sidelight/connect`: look for a model again; a key given here is kept in memory only."""

    api_key: str | None = None


class CommitMessage(Record):
    """Answer of the command `sidelight.commitMessage`."""

    text: str
