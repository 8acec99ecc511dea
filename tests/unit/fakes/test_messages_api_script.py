"""Scripts: how replies are cut into deltas, read from JSON, and played by another process."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anthropic import AsyncAnthropic
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.messages_api.client import HELLO, MODEL, ask, blocks, client_of
from tests.fakes.messages_api.double import API_KEY, running_double
from tests.fakes.messages_api.play import Context, pieces, play
from tests.fakes.messages_api.request import Json
from tests.fakes.messages_api.script import Gate, cut, reply, text, tool_use
from tests.fakes.messages_api.script_json import load_script, parse_script
from tests.fakes.messages_api.server import cut_off

ROOT = Path(__file__).parents[3]
CONTEXT = Context(MODEL, 0, {"input_tokens": 1}, show_thinking=True)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.text(), st.integers(min_value=-1, max_value=40))
def test_pieces_join_to_the_text_they_came_from(words: str, size: int) -> None:
    cut = list(pieces(words, size))
    assert "".join(cut) == words
    assert "" not in cut
    assert size <= 0 or all(len(piece) <= size for piece in cut)


@settings(deadline=None)
@given(
    st.text(),
    st.dictionaries(st.text(), values, max_size=4),
    st.integers(min_value=1, max_value=30),
)
def test_any_text_and_any_input_survive_the_stream(words: str, arguments: Json, size: int) -> None:
    made = reply(text(words), tool_use("Read", arguments, id="toolu_A"), chunk=size)
    wire = b"".join(piece for piece in play(made, CONTEXT).wire if isinstance(piece, bytes))
    lines = [line[6:] for line in wire.split(b"\n") if line.startswith(b"data: ")]
    assert blocks([json.loads(line) for line in lines]) == [
        {"type": "text", "text": words},
        {"type": "tool_use", "id": "toolu_A", "name": "Read", "input": arguments},
    ]


@pytest.mark.anyio
async def test_a_reply_of_hostile_text_survives_the_sdk() -> None:
    words = "\r\n\r\ndata: {}\n\u2028\u0085\x1e🙂 é \ud83d end"
    with running_double([reply(words, chunk=1), reply(words, chunk=0, spread=True)]) as double:
        async with client_of(double) as client:
            for _ in range(2):
                assert blocks(await ask(client))[0]["text"] == words


SCRIPT: list[Any] = [
    {
        "reply": [
            {"thinking": "Hm.", "signature": "c2ln"},
            {"text": ["Wait", {"gate": "go"}, " a bit."]},
            {"tool_use": "Read", "input": {"path": "a"}, "id": "toolu_A"},
        ],
        "chunk": 3,
        "when": {"last_text_contains": "Hello"},
    },
    {"rate_limited": {"retry_after": 1}},
    {"reply": ["Done."], "usage": {"output_tokens": 5}, "times": 2},
]


def test_a_script_in_json_means_the_same_as_one_in_python() -> None:
    first, limited, *done = parse_script({"replies": SCRIPT})
    assert getattr(limited, "headers", {})["retry-after"] == "1"
    assert done == [reply("Done.", usage={"output_tokens": 5})] * 2
    wire = play(first, CONTEXT).wire  # pyright: ignore[reportArgumentType]
    assert wire.count(Gate("go")) == 1


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"answer": "x"}, "entry 0: needs one of reply, http_error, rate_limited, hang_up"),
        ({"reply": [{"txt": "x"}]}, "entry 0: no step has the keys ['txt']"),
        ({"reply": ["x"], "when": {"mood": "good"}}, "entry 0: unknown condition ['mood']"),
        ({"reply": ["x"], "colour": "red"}, "entry 0: reply() got an unexpected keyword"),
    ],
)
def test_a_fault_in_a_json_script_is_named(entry: Json, words: str, tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps([entry]))
    with pytest.raises(ValueError, match="script.json") as caught:
        load_script(path)
    assert words in str(caught.value)


@pytest.mark.anyio
async def test_the_double_runs_as_a_process_with_gates_opened_over_http(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(SCRIPT[:1]))
    command = [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(path)]
    with anyio.fail_after(20):
        async with await anyio.open_process(command, cwd=ROOT, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            try:
                await _talk_to((await process.stdout.receive()).decode().strip())
            finally:
                process.send_signal(signal.SIGTERM)
            errors = b"".join([part async for part in process.stderr]).decode()
    assert "no reply left" in errors
    assert process.returncode == 1


async def _talk_to(url: str) -> None:
    got: list[Json] = []
    control = f"{url}/_control"

    async def talk(client: AsyncAnthropic) -> None:
        stream = await client.messages.create(
            model=MODEL, max_tokens=99, messages=HELLO, stream=True
        )
        got.extend([each.to_dict(mode="json") async for each in stream])

    with anyio.fail_after(10):
        async with (
            httpx2.AsyncClient() as http,
            AsyncAnthropic(base_url=url, api_key=API_KEY, max_retries=0) as client,
        ):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(talk, client)
                assert (await http.get(f"{control}/wait/gate/go")).json() == {"ok": True}
                state = (await http.get(f"{control}/state")).json()
                assert [r["outcome"] for r in state["requests"]] == [None]
                await http.post(f"{control}/open/go")
            assert blocks(got)[1]["text"] == "Wait a bit."
            assert (await http.post(f"{control}/script", json=[{"reply": ["B"]}])).is_success
            assert (await http.post(f"{control}/script", json=[{}])).status_code == 400
            assert (await http.get(f"{control}/nothing")).status_code == 404
            got.clear()
            await talk(client)
            assert blocks(got) == [{"type": "text", "text": "B"}]
            await http.get(f"{control}/wait/requests/2")
            with pytest.raises(Exception, match="no reply left"):
                await talk(client)


def test_a_process_with_a_broken_script_says_so_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text("[")
    command = [sys.executable, "-m", "tests.fakes.messages_api", "--script", str(path)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=10, check=False
    )
    assert done.returncode == 2
    assert "script.json" in done.stderr


@pytest.mark.parametrize("cut_at", ["byte", "event"])
def test_a_cut_leaves_exactly_what_stands_before_it(cut_at: str) -> None:
    made = reply(text("Hello"), tool_use("Read", {"a": 1}, id="toolu_A"), chunk=2)
    events = [piece for piece in play(made, CONTEXT).wire if isinstance(piece, bytes)]
    whole = b"".join(events)
    for at in range(len(whole) if cut_at == "byte" else len(events)):
        at_byte, after_event = (at, None) if cut_at == "byte" else (None, at)
        kept = cut_off(list(events), cut(at_byte=at_byte, after_event=after_event))
        sent = b"".join(piece for piece in kept if isinstance(piece, bytes))
        assert sent == (whole[:at] if cut_at == "byte" else b"".join(events[:at]))
