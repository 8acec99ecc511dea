"""Frames out of any chunks, and output that waits for its reader."""

import asyncio
import os

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.lsp.transport import HIGH_WATER, FrameParser, Output

bodies = st.lists(st.binary(min_size=1, max_size=40), max_size=5)
junk = st.sampled_from([b"", b"X-Other: 1\r\n", b"stray print\n", b"\xff\xfe\r\n"])


@given(bodies, junk, st.data())
def test_any_chunks_give_the_same_bodies(
    sent: list[bytes], before: bytes, data: st.DataObject
) -> None:
    stream = b"".join(before + b"Content-Length: %d\r\n\r\n" % len(b) + b for b in sent)
    parser = FrameParser()
    found: list[bytes] = []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        chunk, stream = stream[:size], stream[size:]
        found += parser.feed(chunk)
    clean = b"\n" not in before.replace(b"\r\n", b"")
    assert found == sent if clean else len(found) <= len(sent)


def test_endless_input_without_a_header_is_not_kept() -> None:
    parser = FrameParser()
    for _ in range(100):
        assert list(parser.feed(b"x" * 10_000)) == []
    assert list(parser.feed(b"\r\n\r\nContent-Length: 2\r\n\r\n{}")) == [b"{}"]


@pytest.mark.anyio
async def test_drain_waits_for_the_reader_and_ends_when_it_leaves() -> None:
    reading, writing = os.pipe()
    output = Output(writing, asyncio.get_running_loop())
    await output.drain()
    output.write(b"x" * (HIGH_WATER + 1))
    output.write(b"y" * 100)
    drained = anyio.Event()

    async def drain() -> None:
        await output.drain()
        drained.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(drain)
        await anyio.wait_all_tasks_blocked()
        assert not drained.is_set()
        os.close(reading)
        with anyio.fail_after(5):
            await drained.wait()
    assert output.lost
    output.write(b"nobody")
    assert output.queued == 0
    output.close(1)
    os.close(writing)
