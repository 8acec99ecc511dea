"""The small model's process: it starts when asked, ends when idle, and is never left behind."""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import httpx2
import pytest

from sidelight.model.local.engine import Answer, LocalModel, LocalModelError, Question
from sidelight.model.local.serve import threads
from sidelight.model.local.weights import Store
from sidelight.process import group
from tests.fakes.small_model import installed, require

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
NOBODY = 0x7FFFFFFF
SHORT = Question(system="Answer in one word.", user="Say yes.", most_tokens=4)
LONG = Question(system="Tell stories.", user="Tell a long story about the sea.", most_tokens=1500)
PARENT = """
import anyio, os
from sidelight.model.local.engine import LocalModel, Question
from sidelight.model.local.weights import Store
from tests.fakes.small_model import smollm2

async def main():
    model = LocalModel(Store(smollm2()), os.environ)
    await model.ask(Question("Answer in one word.", "Say yes.", 4))
    print(model.pid, flush=True)
    await model.ask(Question("Tell stories.", "Tell a long story about the sea.", 1500))

anyio.run(main)
"""


@pytest.fixture(autouse=True)
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    require()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'server'}{os.pathsep}{ROOT}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key-of-the-user")
    return installed()


@pytest.fixture
async def model(store: Store) -> AsyncGenerator[LocalModel]:
    made = LocalModel(store, os.environ)
    yield made
    await made.stop()


async def gone(pid: int) -> None:
    """Wait until no such process lives."""
    with anyio.fail_after(20):
        while group.is_alive(NOBODY, frozenset({pid})):  # noqa: ASYNC110 - nobody announces it
            await anyio.sleep(0.02)


def of_process(pid: int, name: str) -> bytes:
    return Path(f"/proc/{pid}/{name}").read_bytes()


def pid_of(model: LocalModel) -> int:
    assert model.pid is not None
    return model.pid


async def test_a_question_starts_a_process_of_low_priority_without_our_credentials(
    model: LocalModel,
) -> None:
    assert model.pid is None
    with anyio.fail_after(SECONDS):
        answer = await model.ask(SHORT)
    assert answer.text
    pid = pid_of(model)
    assert pid != os.getpid()
    assert os.getpriority(os.PRIO_PROCESS, pid) == 10
    assert b"a-key-of-the-user" not in of_process(pid, "environ")
    words = [b"-P", b"-m", b"sidelight", b"local", b"serve"]
    assert of_process(pid, "cmdline").split(b"\0")[1:-1] == words
    assert "xllamacpp" not in sys.modules
    await model.stop()
    await gone(pid)
    assert model.pid is None


async def test_the_answer_has_the_form_that_was_asked_for(model: LocalModel) -> None:
    schema = {"type": "object", "properties": {"n": {"enum": [7]}}, "required": ["n"]}
    with anyio.fail_after(SECONDS):
        answer = await model.ask(Question("Answer.", "A number.", 40, schema))
    assert answer.whole
    assert "".join(answer.text.split()) == '{"n":7}'


async def test_an_answer_at_the_limit_is_said_to_be_cut(model: LocalModel) -> None:
    with anyio.fail_after(SECONDS):
        answer = await model.ask(Question("Tell stories.", "Tell me about the sea.", 8))
    assert answer == Answer(answer.text, whole=False)


async def test_nobody_else_on_this_computer_can_ask_it(model: LocalModel) -> None:
    with anyio.fail_after(SECONDS):
        await model.ask(SHORT)
    pid = pid_of(model)
    ports = [int(line.split()[1].split(":")[1], 16) for line in _listening(pid)]
    assert len(ports) == 1
    url = f"http://127.0.0.1:{ports[0]}/v1/chat/completions"
    async with httpx2.AsyncClient(trust_env=False) as client:
        response = await client.post(url, json={"messages": [{"role": "user", "content": "hi"}]})
    assert response.status_code == 401


def _listening(pid: int) -> list[str]:
    """The process's own listening sockets, all of which must be on the loopback."""
    folder = Path(f"/proc/{pid}/fd")
    inodes: set[str] = set()
    for fd in folder.iterdir():
        target = str(fd.readlink())
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    lines = Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
    lines += Path(f"/proc/{pid}/net/tcp6").read_text().splitlines()[1:]
    mine = [line for line in lines if line.split()[9] in inodes and line.split()[3] == "0A"]
    assert all(line.split()[1].startswith("0100007F:") for line in mine)
    return mine


async def test_what_is_too_long_is_said_and_the_next_question_is_answered(
    model: LocalModel,
) -> None:
    with anyio.fail_after(SECONDS):
        with pytest.raises(LocalModelError, match="too long for the small local model"):
            await model.ask(Question("Explain.", "word " * 6000, 8))
        assert (await model.ask(SHORT)).text


async def test_a_question_that_is_given_up_leaves_room_for_the_next(model: LocalModel) -> None:
    with anyio.fail_after(SECONDS):
        await model.ask(SHORT)
        pid = model.pid
        with anyio.move_on_after(0.5) as scope:
            await model.ask(LONG)
        assert scope.cancelled_caught
        assert (await model.ask(SHORT)).text
    assert model.pid == pid


async def test_a_process_that_was_killed_is_started_again(model: LocalModel) -> None:
    with anyio.fail_after(SECONDS):
        await model.ask(SHORT)
        pid = pid_of(model)
        os.kill(pid, signal.SIGKILL)
        await gone(pid)
        assert (await model.ask(SHORT)).text
    assert pid_of(model) != pid


async def test_without_a_question_it_ends_by_itself_but_not_during_one(store: Store) -> None:
    model = LocalModel(store, os.environ, idle_s=0.2)
    with anyio.fail_after(SECONDS):
        long = Question("Tell stories.", "Tell a long story about the sea.", 120)
        assert (await model.ask(long)).text
        pid = model.pid
        if pid is not None:
            await gone(pid)
        assert (await model.ask(SHORT)).text
        assert model.pid != pid
        await model.stop()


async def test_nothing_is_left_when_the_parent_is_killed_in_the_middle_of_a_question() -> None:
    async with await anyio.open_process([sys.executable, "-c", PARENT], stderr=None) as parent:
        assert parent.stdout is not None
        with anyio.fail_after(SECONDS):
            pid = int(await parent.stdout.receive())
        assert group.is_alive(NOBODY, frozenset({pid}))
        parent.kill()
    await gone(pid)


async def test_weights_that_were_tampered_with_are_not_loaded(store: Store) -> None:
    data = store.path.read_bytes()
    store.path.unlink()
    store.path.write_bytes(b"GGUF" + data[4:])
    with pytest.raises(LocalModelError, match="the weights are not there; run: sidelight local"):
        await LocalModel(store, os.environ).ask(SHORT)


async def test_a_process_that_does_not_start_is_told_with_its_last_words(store: Store) -> None:
    env = {**os.environ, "PYTHONPATH": "/nowhere", "PYTHONSAFEPATH": "1", "PYTHONHOME": "/nowhere"}
    with anyio.fail_after(SECONDS), pytest.raises(LocalModelError, match="did not start"):
        await LocalModel(store, env).ask(SHORT)


@pytest.mark.parametrize(
    ("cores", "load", "count"),
    [(1, 0.0, 1), (2, 0.3, 1), (8, 1.0, 7), (8, 3.9, 7), (8, 4.0, 1), (8, 30.0, 1)],
)
def test_one_core_stays_free_and_a_busy_computer_gives_one(
    cores: int, load: float, count: int
) -> None:
    assert threads(cores, load) == count
