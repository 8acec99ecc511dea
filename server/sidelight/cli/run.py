"""`sidelight -p "TASK"`: the agent without an editor, for scripts and continuous integration."""

import argparse
import io
import json
import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import cast, get_args

import anyio

from sidelight.app.world import Choices, World, build_session, make_world
from sidelight.core.content import Json, is_list, is_object
from sidelight.core.decision import Mode
from sidelight.core.errors import AgentError
from sidelight.headless.host import DiskHost
from sidelight.headless.output import JsonOutput, Output, StreamJsonOutput, Tally, TextOutput
from sidelight.headless.piped import piped_text
from sidelight.headless.run import Printer, run_prompt
from sidelight.model.catalog import card
from sidelight.session.manager import SessionManager
from sidelight.session.session import Session
from sidelight.wire.visible import for_terminal

PLACE = "without an editor; nobody can answer questions while you work"


def main(arguments: Sequence[str]) -> int:
    """Run one prompt; the exit code is 0 only when the task was completed."""
    options = parse(arguments)
    logging.basicConfig(
        stream=sys.stderr, level="INFO" if options.verbose else "ERROR", format="%(message)s"
    )
    logging.getLogger("httpx2").setLevel(logging.WARNING)
    try:
        choices = choices_of(options)
        text = prompt_of(options)
        world = make_world(os.environ, PLACE, lambda: choices)
    except (OSError, ValueError) as error:
        print(f"sidelight: {error}", file=sys.stderr)
        return 2
    # An answer that the terminal's encoding cannot hold is shown with marks, not lost.
    cast("io.TextIOWrapper", sys.stdout).reconfigure(errors="replace")
    return anyio.run(run, world, options, text)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The command line, with flag names as in the published headless format."""
    parser = argparse.ArgumentParser(prog="sidelight", description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("-p", "--print", metavar="TASK", nargs="?", const="", dest="task", help="what to do")
    add("--output-format", choices=("text", "json", "stream-json"), default="text")
    add("--include-partial-messages", action="store_true", help="deltas too (stream-json)")
    add("--verbose", action="store_true", help="steps on standard error")
    add("--model", help="a model's id or alias")
    add(
        "--fallback-model",
        metavar="MODEL[,MODEL]",
        help="models to ask while the first one is overloaded",
    )
    add("--permission-mode", choices=("manual", *get_args(Mode)))
    add("--allowedTools", "--allowed-tools", nargs="+", default=[], metavar="RULE")
    add("--disallowedTools", "--disallowed-tools", nargs="+", default=[], metavar="RULE")
    add("--max-turns", type=_positive, metavar="N", help="stop after N model calls")
    add(
        "--max-budget-usd",
        type=_dollars,
        metavar="USD",
        help="stop before the request that would begin above this cost of the run",
    )
    add("-r", "--resume", metavar="SESSION", help="go on with a conversation")
    add("-c", "--continue", action="store_true", dest="go_on", help="go on with the newest one")
    add("--settings", metavar="FILE_OR_JSON", help="further settings")
    add("--trust", action="store_true", help="let this folder's hooks and allow rules count")
    add("words", nargs="*", help=argparse.SUPPRESS)
    return parser.parse_args(list(arguments))


def prompt_of(options: argparse.Namespace) -> str:
    """The task from the argument, and what is piped in; raises ValueError with a sentence."""
    parts = [part for part in (options.task or "", *options.words) if part.strip()]
    piped = piped_text(needed=not parts)
    if piped is None:
        print("sidelight: nothing comes on standard input; going on without it", file=sys.stderr)
    text = "\n".join([*parts, piped or ""]).strip()
    if not text:
        raise ValueError('say what to do: sidelight -p "TASK", or give the task on standard input')
    return text


def choices_of(options: argparse.Namespace) -> Choices:
    """What the command line asks for; raises ValueError with a sentence."""
    mode = "default" if options.permission_mode == "manual" else options.permission_mode
    if mode == "bypassPermissions" and _is_root() and not _root_may_bypass():
        raise ValueError(
            "--permission-mode bypassPermissions is refused as root outside a sandbox; set "
            "SIDELIGHT_ALLOW_ROOT_BYPASS=1 if this machine may be damaged"
        )
    settings = _settings(options.settings) if options.settings else {}
    if options.fallback_model:
        settings["fallbackModel"] = [name.strip() for name in options.fallback_model.split(",")]
    for key, rules in (("allow", options.allowedTools), ("deny", options.disallowedTools)):
        if rules:
            _add_rules(settings, key, split_rules(rules))
    return Choices(
        mode=mode,
        model=options.model,
        max_steps=options.max_turns,
        max_budget_usd=options.max_budget_usd,
        trusted=True if options.trust else None,
        headless=True,
        arguments=settings,
    )


def split_rules(given: Sequence[str]) -> list[str]:
    """Rules separated by commas or spaces outside of parentheses, as the published flag takes."""
    rules: list[str] = []
    for text in given:
        depth, start = 0, 0
        for index, letter in enumerate(text):
            depth += (letter == "(") - (letter == ")")
            if depth == 0 and letter in ", ":
                rules.append(text[start:index])
                start = index + 1
        rules.append(text[start:])
    return [rule.strip() for rule in rules if rule.strip()]


def _add_rules(settings: Json, key: str, rules: Sequence[str]) -> None:
    """Join rules of the command line to those of `--settings`."""
    permissions = settings.setdefault("permissions", {})
    if not is_object(permissions) or not is_list(permissions.get(key, [])):
        raise ValueError(f'--settings: "permissions" must be an object and "{key}" in it a list')
    permissions[key] = [*permissions.get(key, []), *rules]


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _dollars(text: str) -> float:
    amount = float(text)
    if not 0 < amount < inf:
        raise argparse.ArgumentTypeError(f"{text} is not an amount above 0")
    return amount


async def run(world: World, options: argparse.Namespace, text: str) -> int:
    """Open the session, run the prompt, close everything."""
    printer = Printer()
    host = DiskHost(lambda severity, words: print(for_terminal(words), file=sys.stderr))
    sessions = SessionManager(
        partial(build_session, world), world.state_home, lambda _: host, lambda _: printer
    )
    try:
        session = await open_session(sessions, options)
    except (AgentError, OSError) as error:
        print(f"sidelight: {error}", file=sys.stderr)
        return 1
    output = make_output(options, session)
    printer.start(output)
    try:
        return await run_prompt(sessions, session, text, output, lambda: host.watched)
    finally:
        with anyio.CancelScope(shield=True):
            await sessions.close()
            await world.link.aclose()


async def open_session(sessions: SessionManager, options: argparse.Namespace) -> Session:
    """A new session, or the one to go on with; raises AgentError."""
    cwd = str(await anyio.Path().absolute())
    if options.resume:
        return await sessions.load(options.resume, cwd)
    if options.go_on:
        listed = await sessions.list(cwd)
        if not listed:
            raise AgentError("there is no conversation in this folder to continue")
        return await sessions.load(listed[0].session_id, cwd)
    return await sessions.new(cwd)


def make_output(options: argparse.Namespace, session: Session) -> Output:
    """The printer for the chosen format."""
    model = session.opened.model
    tally = Tally(session.id, lambda name: card(name).window)
    if options.output_format == "json":
        return JsonOutput(tally)
    if options.output_format == "text":
        return TextOutput(tally, verbose=options.verbose)
    init: Json = {
        "cwd": session.cwd,
        "tools": [tool.name for tool in session.opened.tools],
        "model": model,
        "permissionMode": session.mode,
        "mcp_servers": [],
        "slash_commands": [],
        "claude_code_version": version("sidelight"),
    }
    return StreamJsonOutput(tally, init, partial=options.include_partial_messages)


def _settings(given: str) -> Json:
    text = given if given.lstrip().startswith("{") else _read(given)
    try:
        settings: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"--settings is not JSON: line {error.lineno}: {error.msg}") from error
    if not isinstance(settings, dict):
        raise ValueError("--settings must be a JSON object")
    return cast("Json", settings)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"--settings {path} cannot be read: {error.strerror}") from error


def _is_root() -> bool:
    return sys.platform != "win32" and os.geteuid() == 0


def _root_may_bypass() -> bool:
    names = ("IS_SANDBOX", "SIDELIGHT_ALLOW_ROOT_BYPASS")
    return any(os.environ.get(name) == "1" for name in names)
