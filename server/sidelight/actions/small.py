"""The four actions of a small model: explain, document, rename, commit message.

Each is one question. The model answers or chooses, never edits: the edit is made here, checked
by `checks.py`, and goes through the host like any other. What fails a check changes nothing.
"""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio.to_thread

from sidelight.actions.checks import ActionError, require_docstring_only
from sidelight.actions.docstrings import docstring_edit, spot
from sidelight.actions.names import Names, Renaming
from sidelight.core.content import Json, as_object
from sidelight.core.host import FileEdit, FileSnapshot, Host, TextEdit
from sidelight.git.state import staged_diff
from sidelight.model.local.engine import Answer, Question
from sidelight.resources.prompts import PromptLibrary

LONGEST_CODE = 4000
"""Characters of code that go along; more does not fit beside the answer."""
LONGEST_DOCSTRING = 300
LONGEST_SUBJECT = 72
EXPLAIN_TOKENS, SHORT_TOKENS = 320, 160
CUT = "The answer was cut off; nothing was changed."

Ask = Callable[[Question], Awaitable[Answer]]


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file, as code points of its text; both ends equal is a cursor."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Done:
    """What an action did, as a sentence of the catalogue, or the text that it wrote."""

    words: str
    fields: dict[str, object] = field(default_factory=dict[str, object])
    text: str = ""


class SmallActions:
    """The actions over a way to ask. All raise ActionError, LocalModelError or HostError.

    `trusted` blocks; git is run only in folders that it says yes to.
    """

    def __init__(self, ask: Ask, prompts: PromptLibrary, trusted: Callable[[str], bool]) -> None:
        self._ask = ask
        self._prompts = prompts
        self._trusted = trusted

    async def explain(self, host: Host, place: Place) -> Done:
        """Say what the selected code does; without a selection its line."""
        text = (await _read(host, place.path)).text
        code = text[place.start : place.end].strip() or _line(text, place.start)
        if not code.strip():
            raise ActionError("Select the code first.")
        if len(code) > LONGEST_CODE:
            raise ActionError("This is too long for the small local model; select less.")
        system = self._prompts.module("local/explain.md")
        answer = await self._ask(Question(system, code, EXPLAIN_TOKENS))
        if not answer.text:
            raise ActionError("The small local model had nothing to say.")
        return Done("Explained.", text=answer.text if answer.whole else f"{answer.text} […]")

    async def document(self, host: Host, place: Place) -> Done:
        """Give the function or class at the place a docstring."""
        before = await _read_python(host, place.path)
        where = spot(before.text, before.text.count("\n", 0, place.start) + 1)
        words = await self._choose(
            self._prompts.module("local/document.md"),
            where.source[:LONGEST_CODE],
            {"docstring": {"type": "string", "minLength": 8, "maxLength": LONGEST_DOCSTRING}},
        )
        edit = docstring_edit(before.text, where, words["docstring"])
        after = before.text[: edit.start] + edit.new_text + before.text[edit.end :]
        require_docstring_only(before.text, after, where.index)
        await _apply(host, before, (edit,), f"Docstring of {where.name}")
        return Done("{name} has a docstring; look at it before you keep it.", {"name": where.name})

    async def rename(self, host: Host, place: Place, words: str) -> Done:
        """Rename what the words mean; without words the name at the place, for a clearer one."""
        before = await _read_python(host, place.path)
        names = await anyio.to_thread.run_sync(Names, before.text, place.path)
        known = names.candidates(words, place.start, place.end)
        if not known:
            raise ActionError("This file defines no names.")
        code = before.text[place.start : place.end].strip() or before.text
        wish = words.strip() or "Find a clearer name."
        listed = ", ".join(f'"{name}"' for name in known)
        chosen = await self._choose(
            self._prompts.module("local/rename.md"),
            f"{code[:LONGEST_CODE]}\n\nNames: {listed}\nThe user says: {wish}",
            {
                "old": {"enum": list(known)},
                "new": {"type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,40}$"},
            },
        )
        found = await anyio.to_thread.run_sync(
            names.rename, chosen["old"], chosen["new"], place.start, place.end
        )
        edits = tuple(
            TextEdit(start=at, end=at + len(found.old), new_text=found.new) for at in found.places
        )
        await _apply(host, before, edits, f"Rename {found.old} to {found.new}")
        return _renamed(found)

    async def commit_message(self, folder: str) -> Done:
        """A subject line for what is staged in the folder's repository."""
        if not await anyio.to_thread.run_sync(self._trusted, folder):
            raise ActionError(
                "{folder} is not trusted, so git is not run there; `sidelight trust` lets it.",
                folder=folder,
            )
        diff = await anyio.to_thread.run_sync(staged_diff, folder)
        if diff is None:
            raise ActionError("{folder} is in no git repository.", folder=folder)
        if not diff.strip():
            raise ActionError("Nothing is staged: `git add` what belongs into the commit.")
        chosen = await self._choose(
            self._prompts.module("local/commit.md"),
            diff[:LONGEST_CODE],
            {"subject": {"type": "string", "minLength": 5, "maxLength": LONGEST_SUBJECT}},
        )
        subject = subject_line(chosen["subject"])
        return Done("Commit message: {text}", {"text": subject}, text=subject)

    async def _choose(self, system: str, user: str, fields: Json) -> dict[str, str]:
        schema: Json = {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }
        return chosen_fields(await self._ask(Question(system, user, SHORT_TOKENS, schema)), fields)


def chosen_fields(answer: Answer, fields: Json) -> dict[str, str]:
    """The fields of an answer in JSON; raises ActionError unless all are there as texts."""
    if not answer.whole:
        raise ActionError(CUT)
    try:
        said = as_object(json.loads(answer.text))
    except ValueError:
        said = {}
    texts = {name: value for name, value in said.items() if isinstance(value, str)}
    if set(texts) != set(fields) or set(said) != set(fields):
        raise ActionError("The answer does not have the form that was asked for.")
    for name, value in texts.items():
        allowed = as_object(fields[name]).get("enum")
        if allowed is not None and value not in allowed:
            raise ActionError("The answer does not have the form that was asked for.")
    return texts


def subject_line(text: str) -> str:
    """A commit's subject out of an answer: one line, no full stop; raises ActionError."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    subject = re.sub(r"\s+", " ", lines[0]).strip("`\"' ").rstrip(".") if lines else ""
    if not re.search(r"\w", subject) or len(subject) > LONGEST_SUBJECT:
        raise ActionError("The answer is no subject line.")
    return subject


def _renamed(found: Renaming) -> Done:
    fields: dict[str, object] = {
        "old": found.old,
        "new": found.new,
        "count": len(found.places),
        "lines": ", ".join(map(str, found.left)),
    }
    if found.left:
        words = "{old} is now {new} in {count} places; lines that still say {old}: {lines}."
    elif found.wide:
        words = "{old} is now {new} in {count} places of this file; other files stay as they are."
    else:
        words = "{old} is now {new} in {count} places."
    return Done(words, fields)


async def _read(host: Host, path: str) -> FileSnapshot:
    try:
        return await host.read_text(path)
    except OSError as error:
        raise ActionError("{path} cannot be read: {error}", path=path, error=error) from error


async def _read_python(host: Host, path: str) -> FileSnapshot:
    if not path.endswith((".py", ".pyi")):
        raise ActionError("The small local model changes Python files only.")
    return await _read(host, path)


def _line(text: str, at: int) -> str:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[start : end if end >= 0 else len(text)]


async def _apply(host: Host, before: FileSnapshot, edits: tuple[TextEdit, ...], label: str) -> None:
    """For the text that the question was about, or not at all."""
    edit = FileEdit(path=before.path, base=before.digest, edits=edits)
    outcome = await host.apply_edit((edit,), label)
    if outcome.failure == "stale":
        raise ActionError("The file was changed meanwhile; nothing was done. Try again.")
    if not outcome.applied:
        raise ActionError("The edit was refused: {detail}", detail=outcome.detail)
