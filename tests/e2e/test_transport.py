"""The transport, over real pipes: what the library alone does wrong, one test a defect.

`DEFECTS` names the tests that show each of its known defects to be gone here.
"""

import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from tests.fakes.lsp_client import SILENT, LspClient, lsp_client

pytestmark = [pytest.mark.anyio, pytest.mark.req("EDITOR-01")]

ROOT = Path(__file__).resolve().parents[2]
SERVER = [sys.executable, "-P", str(ROOT / "tests/e2e/faulty_server.py")]
URI = "file:///w/a.txt"


BUFFERS, LINES = "tests/unit/lsp/test_buffers.py", "tests/unit/lsp/test_lines.py"
HERE = "tests/e2e/test_transport.py"
DEFECTS = {
    "1 a cancelled command runs on": [(HERE, "test_cancel_reaches_a_running_command")],
    "2 a command that cancels itself is never answered": [
        (HERE, "test_a_command_that_cancels_itself_is_answered")
    ],
    "3 shutdown with work in flight fails": [
        (HERE, "test_shutdown_ends_a_command_and_a_request_in_flight")
    ],
    "4 exit with work in flight recurses": [
        (HERE, "test_exit_with_work_in_flight_ends_at_once_and_quietly")
    ],
    "5 the exit code is always 0, signals hang": [
        (HERE, "test_exit_after_shutdown_is_code_zero_and_says_nothing"),
        (HERE, "test_the_end_of_input_ends_the_server_with_code_one"),
        (HERE, "test_a_signal_stops_the_work_and_is_in_the_exit_code"),
    ],
    "6 wrong params and nested messages are never answered": [
        (HERE, "test_wrong_params_are_answered_with_the_id_and_a_sentence"),
        (HERE, "test_a_request_without_params_is_answered"),
        (HERE, "test_nested_messages_and_awkward_keys_arrive_as_they_are"),
    ],
    "7 late answers pop an error, the client is not told": [
        (HERE, "test_giving_up_a_question_tells_the_client_and_a_late_answer_is_ignored")
    ],
    "8 custom params lose keys": [
        (HERE, "test_nested_messages_and_awkward_keys_arrive_as_they_are")
    ],
    "9 lines are split in wrong places, columns clamped one short": [
        (LINES, "test_lines_end_where_the_protocol_says_and_nowhere_else"),
        (LINES, "test_a_column_behind_the_end_of_the_last_line_is_its_end"),
        (BUFFERS, "test_changes_of_one_notification_build_on_each_other"),
    ],
    "10 output blocks the loop": [
        (HERE, "test_a_client_that_does_not_read_stops_the_stream_and_nothing_else")
    ],
    "11 busy threads block input": [(HERE, "test_busy_worker_threads_do_not_hold_up_input")],
    "12 a burst is handled out of order": [
        (HERE, "test_each_query_of_a_burst_sees_the_change_before_it")
    ],
    "13 progress tokens leak, cancelled requests run": [
        (HERE, "test_progress_that_is_over_leaves_no_token_behind"),
        (HERE, "test_requests_cancelled_while_the_loop_was_busy_are_never_run"),
    ],
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_known_defect_of_the_library_has_its_tests(defect: str) -> None:
    for file, name in DEFECTS[defect]:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{ROOT / 'server'}{os.pathsep}{ROOT}", **extra}


@pytest.fixture
async def client() -> AsyncIterator[LspClient]:
    async with lsp_client(SERVER, environment()) as client:
        yield client


@pytest.fixture
async def ready(client: LspClient) -> LspClient:
    await client.initialize()
    return client


async def silence(_: object) -> object:
    """An answer that never comes."""
    return SILENT


async def until_logged(client: LspClient, words: bytes) -> None:
    with anyio.fail_after(5):
        while words not in client.stderr:
            await anyio.lowlevel.checkpoint()


async def test_cancel_reaches_a_running_command(ready: LspClient) -> None:
    command = {"command": "sidelight.run", "arguments": [60]}
    request = await ready.begin("workspace/executeCommand", command)
    await until_logged(ready, b"a command began")
    await ready.notify("$/cancelRequest", {"id": request})
    answer = await ready.answer_to(request)
    assert answer["error"]["code"] == -32800
    await until_logged(ready, b"the command was stopped")
    assert b"ran to its end" not in ready.stderr


async def test_a_command_that_cancels_itself_is_answered(ready: LspClient) -> None:
    request = await ready.begin("workspace/executeCommand", {"command": "sidelight.stop"})
    assert (await ready.answer_to(request))["error"]["code"] == -32800


async def test_shutdown_ends_a_command_and_a_request_in_flight(ready: LspClient) -> None:
    command = {"command": "sidelight.run", "arguments": [60]}
    running = await ready.begin("workspace/executeCommand", command)
    ready.answers["window/showMessageRequest"] = silence
    asking = await ready.begin("test/giveUp", 60)
    await ready.wait_for_method("window/showMessageRequest")
    assert await ready.end() == 0
    for request in (running, asking):
        assert (await ready.answer_to(request))["error"]["code"] == -32800


async def test_exit_with_work_in_flight_ends_at_once_and_quietly(ready: LspClient) -> None:
    ready.answers["window/showMessageRequest"] = silence
    await ready.begin("test/giveUp", 60)
    await ready.wait_for_method("window/showMessageRequest")
    await ready.notify("exit")
    assert await ready.wait_for_end() == 1
    assert ready.stderr == b""


async def test_exit_after_shutdown_is_code_zero_and_says_nothing(ready: LspClient) -> None:
    assert await ready.end() == 0
    assert ready.stderr == b""


async def test_the_end_of_input_ends_the_server_with_code_one(ready: LspClient) -> None:
    command = {"command": "sidelight.run", "arguments": [60]}
    await ready.begin("workspace/executeCommand", command)
    await until_logged(ready, b"a command began")
    await ready.hang_up()
    assert await ready.wait_for_end() == 1
    await until_logged(ready, b"the command was stopped")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_stops_the_work_and_is_in_the_exit_code(
    ready: LspClient, number: signal.Signals
) -> None:
    command = {"command": "sidelight.run", "arguments": [60]}
    await ready.begin("workspace/executeCommand", command)
    await until_logged(ready, b"a command began")
    ready.process.send_signal(number)
    assert await ready.wait_for_end() == 128 + number
    await until_logged(ready, b"the command was stopped")


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"textDocument": 5}, "textDocument/codeLens"),
        ({}, "textDocument"),
        (None, "textDocument/codeLens"),
        ([1], "textDocument/codeLens"),
    ],
)
async def test_wrong_params_are_answered_with_the_id_and_a_sentence(
    ready: LspClient, params: object, words: str
) -> None:
    answer = await ready.answer_to(await ready.begin("textDocument/codeLens", params))
    assert answer["error"]["code"] == -32602
    assert words in answer["error"]["message"]
    assert ready.named("window/showMessage") == []


async def test_a_request_without_params_is_answered(ready: LspClient) -> None:
    await ready.send({"id": "no params", "method": "textDocument/codeLens"})
    answer = await ready.wait_for(lambda message: message.get("id") == "no params")
    assert answer["error"]["code"] == -32602


async def test_nested_messages_and_awkward_keys_arrive_as_they_are(ready: LspClient) -> None:
    params = {
        "_meta": {"sidelight": {"jsonrpc": "2.0", "id": 1, "method": "initialize"}},
        "class": 1,
        "type_name": "x",
        "def": [{"jsonrpc": "2.0", "error": None}],
    }
    assert await ready.ask("session/new", params) == {"method": "session/new", "params": params}


async def test_giving_up_a_question_tells_the_client_and_a_late_answer_is_ignored(
    ready: LspClient,
) -> None:
    late = anyio.Event()

    async def answer(_: object) -> object:
        await late.wait()
        return {"title": "too late"}

    ready.answers["window/showMessageRequest"] = answer
    assert await ready.ask("test/giveUp", 0.01) == "gave up"
    question = await ready.wait_for_method("window/showMessageRequest")
    cancelled = await ready.wait_for_method("$/cancelRequest")
    assert cancelled["params"] == {"id": question["id"]}
    late.set()
    assert await ready.ask("test/echo", "alive") == "alive"
    assert await ready.end() == 0
    assert b"InvalidState" not in ready.stderr
    assert ready.named("window/showMessage") == []


async def test_an_error_answer_reaches_the_one_who_asked(ready: LspClient) -> None:
    assert await ready.ask("test/giveUp", 30) == "no window/showMessageRequest here"


async def test_an_answer_of_the_wrong_shape_is_an_error_for_the_one_who_asked(
    ready: LspClient,
) -> None:
    async def answer(_: object) -> object:
        return ["no", "item"]

    ready.answers["window/showMessageRequest"] = answer
    assert "not valid" in await ready.ask("test/giveUp", 30)


async def test_a_client_that_does_not_read_stops_the_stream_and_nothing_else(
    ready: LspClient,
) -> None:
    ready.paused = anyio.Event()
    flood = await ready.begin("test/flood", 200)
    await ready.begin("test/echo", "while nobody reads")
    await until_logged(ready, b"echo ran: while nobody reads")
    ready.paused.set()
    answer = await ready.answer_to(flood)
    assert len(ready.named("test/flood")) == 200
    assert answer["result"] < (1 << 20) + (1 << 18)


async def test_busy_worker_threads_do_not_hold_up_input(ready: LspClient) -> None:
    await ready.begin("test/fillThreads", 60)
    assert await ready.ask("test/echo", "through") == "through"
    ready.process.kill()


async def test_each_query_of_a_burst_sees_the_change_before_it(ready: LspClient) -> None:
    item = {"uri": URI, "languageId": "text", "version": 1, "text": ""}
    await ready.notify("textDocument/didOpen", {"textDocument": item})
    requests: list[int] = []
    for version in range(2, 8):
        change = {"contentChanges": [{"text": f"text {version}"}]}
        await ready.notify(
            "textDocument/didChange", {"textDocument": {"uri": URI, "version": version}, **change}
        )
        requests.append(await ready.begin("test/version", URI))
    answers = [(await ready.answer_to(request))["result"] for request in requests]
    assert answers == [[version, f"text {version}"] for version in range(2, 8)]


async def test_requests_cancelled_while_the_loop_was_busy_are_never_run(ready: LspClient) -> None:
    await ready.ask("test/echo", "warm")
    blocking = await ready.begin("test/block", 0.5)
    requests = [await ready.begin("test/echo", number) for number in range(30)]
    for request in requests:
        await ready.notify("$/cancelRequest", {"id": request})
    await ready.answer_to(blocking)
    answers = [await ready.answer_to(request) for request in requests]
    assert {answer["error"]["code"] for answer in answers} == {-32800}
    assert await ready.ask("test/count") == 1


async def test_progress_that_is_over_leaves_no_token_behind(client: LspClient) -> None:
    async def created(_: object) -> object:
        return None

    client.answers["window/workDoneProgress/create"] = created
    await client.initialize({"window": {"workDoneProgress": True}})
    assert await client.ask("test/progress", 100) == [0, 0]
    values = [params["value"]["kind"] for params in client.named("$/progress")]
    assert values == [*(["begin", "report", "end"] * 100), "begin", "end"]
    tokens = {params["token"] for params in client.named("$/progress")}
    assert len(tokens) == 101


async def test_questions_that_are_never_answered_do_not_stop_the_server(ready: LspClient) -> None:
    ready.answers["window/showMessageRequest"] = silence
    for _ in range(150):
        await ready.begin("test/giveUp", 600)
    assert await ready.ask("test/echo", "ping") == "ping"


async def test_stray_output_and_children_do_not_touch_the_protocol(ready: LspClient) -> None:
    assert await ready.ask("test/stray") == 0  # `cat` found its input empty, and ended
    await until_logged(ready, b"printed by accident")
    await until_logged(ready, b"written to descriptor 1")


async def test_a_failing_notification_is_logged_and_not_shown(ready: LspClient) -> None:
    await ready.notify("session/cancel", {"sessionId": "x"})
    await ready.notify("textDocument/didOpen", {"textDocument": 1})
    await until_logged(ready, b"session/cancel is not wanted")
    await until_logged(ready, b"textDocument/didOpen ignored")
    assert await ready.ask("test/echo", 1) == 1
    assert ready.named("window/showMessage") == []


async def test_a_bug_in_a_handler_is_answered_without_its_traceback(ready: LspClient) -> None:
    await ready.ask("session/list")
    answer = await ready.answer_to(
        await ready.begin("textDocument/codeLens", {"textDocument": {"uri": URI}})
    )
    assert answer["error"] == {
        "code": -32603,
        "message": "Internal error: ValueError: a lens that cannot be made",
    }
    await until_logged(ready, b"Traceback")


async def test_what_is_no_message_is_answered_or_skipped(ready: LspClient) -> None:
    await ready.send_bytes(b"Content-Length: 4\r\n\r\nnope")
    answer = await ready.wait_for(lambda message: message.get("id", 0) is None)
    assert answer["error"]["code"] == -32700
    await ready.send_bytes(b"X-Header: 1\r\n\r\n")
    await until_logged(ready, b"without Content-Length")
    await ready.send_bytes(b"content-length: 2\r\nContent-Type: x; charset=utf-8\r\n\r\n[]")
    await ready.wait_for(lambda message: message.get("error", {}).get("code") == -32600)
    assert await ready.ask("test/echo", 1) == 1


async def test_unknown_methods_are_refused_and_unknown_notifications_ignored(
    ready: LspClient,
) -> None:
    await ready.notify("$/unheardOf", {})
    answer = await ready.answer_to(await ready.begin("textDocument/unheardOf", {}))
    assert answer["error"]["code"] == -32601
    command = {"command": "rm"}
    answer = await ready.answer_to(await ready.begin("workspace/executeCommand", command))
    assert answer["error"] == {"code": -32602, "message": "there is no command 'rm'"}


async def test_requests_before_initialize_and_after_shutdown_are_refused(
    client: LspClient,
) -> None:
    answer = await client.answer_to(await client.begin("test/echo", 1))
    assert answer["error"]["code"] == -32002
    await client.initialize()
    answer = await client.answer_to(await client.begin("initialize", {"capabilities": {}}))
    assert answer["error"]["code"] == -32600
    await client.ask("shutdown")
    answer = await client.answer_to(await client.begin("test/echo", 1))
    assert answer["error"]["code"] == -32600
    await client.notify("exit")
    assert await client.wait_for_end() == 0


async def test_initialize_is_answered_before_anything_heavy_is_imported(
    client: LspClient,
) -> None:
    params: dict[str, object] = {"processId": None, "capabilities": {}}
    await client.ask("initialize", params)
    modules = set(await client.ask("test/modules"))
    heavy = {"pydantic", "anthropic", "httpx2", "git", "watchfiles", "acp", "tree_sitter"}
    assert modules & heavy == set()
    ours = {name for name in modules if name.startswith("sidelight.")}
    assert {name for name in ours if not name.startswith(("sidelight.lsp", "sidelight.wire"))} == (
        set()
    )


async def test_an_application_that_does_not_load_is_said_in_words() -> None:
    async with lsp_client(SERVER, environment(BROKEN="1")) as client:
        await client.initialize()
        shown = await client.wait_for_method("window/showMessage")
        assert shown["params"] == {
            "type": 1,
            "message": "Sidelight could not start: no module named broken",
        }
        answer = await client.answer_to(await client.begin("session/new", {"cwd": "/"}))
        assert answer["error"]["message"] == (
            "Sidelight could not start: ImportError: no module named broken"
        )
        assert await client.end() == 0
