"""Prewritten replies are checked when they are read, and played as a model would speak."""

from pathlib import Path

import pytest

from sidelight.core.content import Text, Thinking, ToolUse
from sidelight.core.errors import ModelError
from sidelight.core.model import (
    BlockReady,
    ModelRequest,
    ResponseEnded,
    SystemPrompt,
    TextChunk,
    ThinkingChunk,
    ToolUseStarted,
)
from sidelight.model.demonstration import DemonstrationModel
from sidelight.resources.locate import resource

REQUEST = ModelRequest(model="any", system=SystemPrompt(stable="s"), tools=(), messages=())


def written(folder: Path, text: str) -> Path:
    path = folder / "replies.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.anyio
async def test_a_reply_is_told_in_small_pieces_and_then_whole(tmp_path: Path) -> None:
    text = (
        '[[{"thinking": "I think a while."}, {"text": "Look at {cwd}."},'
        ' {"tool": "Read", "input": {"file_path": "{cwd}/a"}}], [{"text": "Done."}]]'
    )
    model = DemonstrationModel.load(written(tmp_path, text), 'C:\\"w"')
    first = [event async for event in model.stream(REQUEST)]
    raw = {"type": "thinking", "thinking": "I think a while.", "signature": ""}
    blocks = (
        Thinking(raw=raw, model="demonstration"),
        Text(text='Look at C:\\"w".'),
        ToolUse(id="demo_1_2", name="Read", input={"file_path": 'C:\\"w"/a'}),
    )
    assert first[:-1] == [
        ThinkingChunk(text="I think a wh"),
        ThinkingChunk(text="ile."),
        BlockReady(block=blocks[0]),
        TextChunk(text='Look at C:\\"'),
        TextChunk(text='w".'),
        BlockReady(block=blocks[1]),
        ToolUseStarted(id="demo_1_2", name="Read"),
        BlockReady(block=blocks[2]),
    ]
    assert isinstance(first[-1], ResponseEnded)
    assert (first[-1].message.content, first[-1].message.stop_reason) == (blocks, "tool_use")
    second = [event async for event in model.stream(REQUEST)]
    assert isinstance(second[-1], ResponseEnded)
    assert second[-1].message.stop_reason == "end_turn"
    with pytest.raises(ModelError, match="over") as caught:
        await anext(model.stream(REQUEST))
    assert caught.value.kind == "no_model"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[\n{]", "replies.json:2: "),
        ('[[{"text": "a"}], [{"words": "b"}]]', "replies.json: entry 1.0: "),
        ('[[{"tool": "Read"}]]', "replies.json: entry 0.0: "),
        ('{"replies": []}', "replies.json: entry : "),
    ],
)
def test_a_broken_file_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=r"replies\.json") as caught:
        DemonstrationModel.load(written(tmp_path, text), "/w")
    assert words in str(caught.value)


def test_the_bundled_demonstration_can_be_read() -> None:
    DemonstrationModel.load(resource("demonstration.json"), "/w")
