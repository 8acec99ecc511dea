"""The SDK is loaded for what is used of it, and nothing of it is lost.

Each test runs in a fresh interpreter: what is loaded cannot be loaded once more.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SERVER = str(Path(__file__).resolve().parents[3] / "server")
ROOT = str(Path(__file__).resolve().parents[3])


def run(code: str) -> Any:
    """What the code printed last, as JSON; warnings are errors there too."""
    environment = {"PYTHONPATH": f"{SERVER}:{ROOT}", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


COUNT = (
    "import sys, json; print(json.dumps(sum(n.split('.')[0] == 'anthropic' for n in sys.modules)))"
)


def test_our_modules_alone_do_not_load_the_sdk() -> None:
    assert run(f"import sidelight.model.link; {COUNT}") == 0


def test_loading_what_we_use_loads_less_than_half_of_the_sdk() -> None:
    use = "AsyncAnthropic(api_key='x')"
    plain = run(f"import anthropic; anthropic.{use}; {COUNT}")
    ours = run(f"from sidelight.model import sdk; sdk.load().{use}; {COUNT}")
    assert ours < plain / 2


NAMES = """
import importlib, json
names = {}
for package in ("", ".types", ".types.beta", ".types.shared", ".resources", ".resources.messages",
                ".lib.streaming", ".lib.tools", ".lib.credentials", ".lib.bedrock"):
    module = importlib.import_module("anthropic" + package)
    offered = getattr(module, "__all__", None) or OFFERED.get(package, ())
    for name in offered:
        found = getattr(module, name)
        names[f"{package}.{name}"] = getattr(found, "__qualname__", type(found).__name__)
print(json.dumps(names))
"""


def test_every_name_that_the_sdk_offers_is_there_and_is_the_same_thing() -> None:
    packages = "('', '.types', '.types.beta', '.types.shared', '.lib.streaming')"
    public = run(
        "import importlib, json; print(json.dumps({p: sorted(n for n in "
        "vars(importlib.import_module('anthropic' + p)) if not n.startswith('_')) "
        f"for p in {packages}}}))"
    )
    offered = f"OFFERED = {public!r}\n"
    plain = run(offered + NAMES)
    ours = run("from sidelight.model import sdk\nsdk.load()\n" + offered + NAMES)
    assert len(plain) > 1_000
    assert ours == plain


def test_submodules_and_starred_names_work_as_before() -> None:
    code = """
from sidelight.model import sdk
sdk.load()
import anthropic, anthropic.types.beta as beta, json
from anthropic import AsyncAnthropicVertex
from anthropic.lib import vertex
from anthropic.types import message, Message
missing = [hasattr(m, "no_such_name") for m in (anthropic, anthropic.types, beta)]
print(json.dumps([Message is message.Message, AsyncAnthropicVertex is vertex.AsyncAnthropicVertex,
                  *missing]))
"""
    assert run(code) == [True, True, False, False, False]


TYPED = """
import asyncio, json
from sidelight.model import sdk
from tests.fakes.messages_api.double import running_double
from tests.fakes.messages_api.script import reply, text
anthropic = sdk.load()
script = [reply(text("one")), reply(text("two"))]
ask = dict(model="claude-sonnet-5-5", max_tokens=99, messages=[{"role": "user", "content": "hi"}])

async def main():
    with running_double(script, allow_refusals=True) as double:
        async with anthropic.AsyncAnthropic(
            base_url=double.base_url, api_key=double.api_key, max_retries=0
        ) as client:
            kinds = [event.type async for event in await client.messages.create(stream=True, **ask)]
            async with client.messages.stream(**ask) as stream:
                said = await stream.get_final_text()
            del ask["max_tokens"]
            count = await client.messages.count_tokens(**ask)
            models = [model.id async for model in client.models.list()]
            client.api_key = "wrong"
            try:
                await client.messages.count_tokens(**ask)
            except anthropic.AuthenticationError as error:
                refused = error.type
    print(json.dumps([kinds[-1], said, count.input_tokens > 0, len(models) > 3, refused]))

asyncio.run(main())
"""


def test_the_typed_interface_works_through_the_deferred_packages() -> None:
    expected = ["message_stop", "two", True, True, "authentication_error"]
    assert run(TYPED) == expected


@pytest.mark.parametrize(
    "harm",
    [
        "sdk.DeferringFinder.find_spec = lambda *a: 1 / 0",
        "sdk.DeferringLoader.exec_module = lambda *a: 1 / 0",
        "sdk.Deferred.load = lambda *a: 1 / 0",
        "sdk._getter = lambda *a: None",
    ],
)
def test_when_deferring_fails_the_sdk_is_imported_as_ever(harm: str) -> None:
    code = f"""
import json, sys
from sidelight.model import sdk
{harm}
anthropic = sdk.load()
client = anthropic.AsyncAnthropic(api_key="x")
from anthropic.types import Message
left = sum(isinstance(finder, sdk.DeferringFinder) for finder in sys.meta_path)
print(json.dumps([type(client).__name__, Message.__name__, left]))
"""
    assert run(code) == ["AsyncAnthropic", "Message", 0]


def test_an_sdk_that_is_loaded_already_is_taken_as_it_is() -> None:
    code = """
import anthropic, json, sys
from sidelight.model import sdk
print(json.dumps([sdk.load() is anthropic, len(sys.meta_path)]))
"""
    before = run("import json, sys; print(json.dumps(len(sys.meta_path)))")
    assert run(code) == [True, before]


def test_several_threads_that_ask_at_once_get_the_same_module() -> None:
    code = """
import anyio, json
from sidelight.model import sdk
found = []

async def ask():
    found.append(await sdk.warm())

async def main():
    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(ask)

anyio.run(main)
print(json.dumps([len(found), len(set(map(id, found))), hasattr(found[0], "AsyncAnthropic")]))
"""
    assert run(code) == [8, 1, True]


def test_the_libraries_of_the_clouds_are_loaded_for_their_clouds_only() -> None:
    script = """
import json, sys, anyio
from sidelight.model.link import ModelLink, UserSide
async def main():
    link = ModelLink({'ANTHROPIC_API_KEY': 'key'}, UserSide)
    await link.warm()
    await link.aclose()
anyio.run(main)
print(json.dumps(sorted({'boto3', 'botocore', 'google.auth'} & set(sys.modules))))
"""
    assert run(script) == []
