"""Transcripts on disks that refuse, in two processes, and with what JSON cannot hold."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sidelight.core.content import Text
from sidelight.transcripts.entry import CallStored, PromptStored
from sidelight.transcripts.index import list_sessions
from sidelight.transcripts.replay import replay
from sidelight.transcripts.store import Transcript, TranscriptError
from tests.unit.transcripts.test_replay import OPENED

FULL = """
import json, resource, sys
from pathlib import Path
import anyio
from sidelight.core.content import Text
from sidelight.review.store import ReviewStore
from sidelight.session.recorder import Recorder
from sidelight.transcripts.store import Transcript
from tests.unit.transcripts.test_replay import OPENED

path = Path(sys.argv[1])
told = []

async def problem(text):
    told.append(text)

async def main():
    transcript = Transcript(path)
    transcript.append(OPENED)
    recorder = Recorder(transcript, ReviewStore(path.parent / "review"), problem)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 40, hard))
    for number in range(3):
        await recorder.prompt(str(number), (Text(text="x" * 50),))
        await recorder.reviews({})
    refused = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    await recorder.prompt("3", (Text(text="at last"),))
    await recorder.close()
    print(json.dumps([told, refused, path.stat().st_size]))

anyio.run(main)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_what_a_full_disk_refuses_is_told_once_and_written_when_there_is_room(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr.count("Traceback")) == (0, 0), done.stderr
    told, refused, size = json.loads(done.stdout)
    assert len(told) == 1
    assert told[0].startswith("This conversation is not being saved: ")
    assert refused < size
    found = replay(path)
    assert (list(found.waiting), found.unread_lines) == (["0", "1", "2", "3"], 0)


def test_a_conversation_that_is_open_elsewhere_is_refused_and_free_when_closed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    transcript = Transcript(path)
    with pytest.raises(TranscriptError, match="The conversation s is open in another window"):
        Transcript(path)
    closing = threading.Thread(target=transcript.close)
    closing.start()
    closing.join(5)
    Transcript(path).close()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
def test_a_transcript_is_for_the_user_alone(tmp_path: Path) -> None:
    Transcript(tmp_path / "sessions" / "s.jsonl").close()
    modes = [(tmp_path / "sessions" / name).stat().st_mode & 0o777 for name in ("", "s.jsonl")]
    assert modes == [0o700, 0o600]


def test_half_characters_in_a_tools_data_are_mended(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path / "s.jsonl")
    transcript.append(OPENED)
    data = {"lines": ["a \ud800 b", "\ud83d\ude00", None]}
    transcript.append(CallStored(tool_use_id="a", name="Read", outcome="done", data=data))
    transcript.close()
    kept = replay(tmp_path / "s.jsonl").calls["a"].data
    assert kept == {"lines": ["a \ufffd b", "\U0001f600", None]}


def test_a_list_has_every_conversation_with_a_prompt_newest_first(tmp_path: Path) -> None:
    for name, prompt in (("old", "first\nand more"), ("new", "x" * 100), ("empty", "")):
        transcript = Transcript(tmp_path / f"{name}.jsonl")
        transcript.append(OPENED.model_copy(update={"session_id": name}))
        if prompt:
            transcript.append(PromptStored(prompt_id="p", content=(Text(text=prompt),)))
        transcript.close()
    (tmp_path / "rubbish.jsonl").write_bytes(b"\xff\n{")
    os.utime(tmp_path / "old.jsonl", (1, 1))
    listed = [(one.session_id, one.cwd, one.title) for one in list_sessions(tmp_path)]
    assert listed == [("new", "/w", "x" * 79 + "…"), ("old", "/w", "first")]
