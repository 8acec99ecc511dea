"""The four actions with answers of every kind: what fails a check leaves the file as it was."""

import json
import subprocess
from pathlib import Path

import pytest

from sidelight.actions.checks import ActionError
from sidelight.actions.small import Done, Place, SmallActions, chosen_fields, subject_line
from sidelight.core.content import Json
from sidelight.headless.host import DiskHost
from sidelight.model.local.engine import Answer, Question
from sidelight.resources.locate import resource
from sidelight.resources.prompts import PromptLibrary

pytestmark = pytest.mark.anyio

CODE = """def load(path):
    with open(path) as file:
        return file.read()


def load_all(paths):
    return [load(path) for path in paths]
"""


def get(path: Path) -> str:
    return path.read_text()


def put(path: Path, text: str) -> None:
    path.write_text(text)


class Model:
    """Says what it is told to say; keeps the questions."""

    def __init__(self, said: Json | str, *, whole: bool = True) -> None:
        self.answer = Answer(said if isinstance(said, str) else json.dumps(said), whole)
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self.answer


@pytest.fixture
def path(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    path = tmp_path / "rows.py"
    put(path, CODE)
    return path


def actions(model: Model, *, trusted: bool = True) -> SmallActions:
    return SmallActions(model.ask, PromptLibrary(resource("prompts")), lambda folder: trusted)


def host() -> DiskHost:
    return DiskHost(lambda severity, words: None)


def at(path: Path, words: str) -> Place:
    start = get(path).index(words)
    return Place(str(path), start, start + len(words))


async def test_an_explanation_is_asked_of_the_selection_alone(path: Path) -> None:
    model = Model("It reads a file.")
    done = await actions(model).explain(host(), at(path, "return file.read()"))
    assert done == Done("Explained.", text="It reads a file.")
    assert [question.user for question in model.questions] == ["return file.read()"]
    start = get(path).index("open")
    await actions(model).explain(host(), Place(str(path), start, start))
    assert model.questions[-1].user == "    with open(path) as file:"


async def test_an_explanation_that_was_cut_or_is_empty_says_so(path: Path) -> None:
    done = await actions(Model("It reads a", whole=False)).explain(host(), at(path, "load"))
    assert done.text == "It reads a […]"
    with pytest.raises(ActionError, match="nothing to say"):
        await actions(Model("")).explain(host(), at(path, "load"))


async def test_too_much_code_is_not_asked_about(path: Path) -> None:
    put(path, "x = 1\n" * 1000)
    model = Model("unused")
    with pytest.raises(ActionError, match="select less"):
        await actions(model).explain(host(), Place(str(path), 0, 6000))
    assert model.questions == []


async def test_a_docstring_is_written_and_nothing_else(path: Path) -> None:
    model = Model({"docstring": "Return the text of a file."})
    done = await actions(model).document(host(), at(path, "file.read"))
    assert done.fields == {"name": "load"}
    wanted = '(path):\n    """Return the text of a file."""\n'
    assert get(path) == CODE.replace("(path):\n", wanted, 1)
    assert model.questions[0].user == CODE[: CODE.index("\n\n\n") + 1]


@pytest.mark.parametrize(
    "said",
    [
        "",
        "def load(path): pass",
        '{"docstring": "Return the te',
        '["Return"]',
        {"docstring": 3},
        {"docstring": "  \n "},
        {"docstring": "Return it.", "code": "import os"},
        {"text": "Return it."},
    ],
)
async def test_an_answer_of_another_form_is_no_docstring(path: Path, said: Json | str) -> None:
    with pytest.raises(ActionError):
        await actions(Model(said)).document(host(), at(path, "load"))
    assert get(path) == CODE


async def test_an_answer_that_was_cut_is_not_used_even_where_it_reads_well(path: Path) -> None:
    model = Model({"docstring": "Return the text."}, whole=False)
    with pytest.raises(ActionError, match="cut off; nothing was changed"):
        await actions(model).document(host(), at(path, "load"))
    assert get(path) == CODE


@pytest.mark.parametrize(
    "docstring",
    ['Say """hi""".\nimport os\n"""', 'Ends with "', "A \\ and a \\n", '"""; import os; """'],
)
async def test_a_docstring_cannot_become_code(path: Path, docstring: str) -> None:
    await actions(Model({"docstring": docstring})).document(host(), at(path, "load"))
    spaces: dict[str, object] = {}
    exec(get(path), spaces)
    assert "".join(str(getattr(spaces["load"], "__doc__", "")).split()) == "".join(
        docstring.split()
    )
    assert "os" not in spaces


async def test_a_rename_is_the_one_that_code_works_out(path: Path) -> None:
    model = Model({"old": "load", "new": "fetch"})
    done = await actions(model).rename(host(), at(path, "load(path):"), "call load fetch")
    assert get(path) == CODE.replace("load(", "fetch(")
    assert done.fields == {"old": "load", "new": "fetch", "count": 2, "lines": ""}
    schema = model.questions[0].schema
    assert schema is not None
    assert schema["properties"]["old"] == {"enum": ["load"]}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"old": "load_all", "new": "fetch"}, "does not have the form"),
        ({"old": "load", "new": "load_all"}, "in use in this file"),
        ({"old": "load", "new": "open"}, "hide a built-in"),
        ({"old": "load", "new": "load"}, "the old one"),
        ({"old": "load", "new": "fetch()"}, "not a name"),
        ({"new": "fetch"}, "does not have the form"),
        (CODE.replace("load", "fetch"), "does not have the form"),
    ],
)
async def test_a_choice_that_cannot_be_is_refused(path: Path, said: Json | str, why: str) -> None:
    with pytest.raises(ActionError, match=why):
        await actions(Model(said)).rename(host(), at(path, "load"), "call load fetch")
    assert get(path) == CODE


async def test_a_file_that_changed_while_the_model_thought_is_left_alone(path: Path) -> None:
    class Slow(Model):
        async def ask(self, question: Question) -> Answer:
            put(path, "# typed meanwhile\n" + CODE)
            return await super().ask(question)

    for act in ("document", "rename"):
        put(path, CODE)
        slow = Slow(
            {"docstring": "It reads."} if act == "document" else {"old": "load", "new": "get"}
        )
        with pytest.raises(ActionError, match="changed meanwhile; nothing was done"):
            if act == "document":
                await actions(slow).document(host(), at(path, "load"))
            else:
                await actions(slow).rename(host(), at(path, "load"), "")
        assert get(path) == "# typed meanwhile\n" + CODE


async def test_other_languages_are_explained_but_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    put(path, "int main(void) { return 0; }\n")
    with pytest.raises(ActionError, match="changes Python files only"):
        await actions(Model({})).document(host(), Place(str(path), 0, 0))
    with pytest.raises(ActionError, match="changes Python files only"):
        await actions(Model({})).rename(host(), Place(str(path), 0, 0), "x")
    assert (await actions(Model("C.")).explain(host(), Place(str(path), 0, 9))).text == "C."


def ran(folder: Path) -> bool:
    (folder / "trap").chmod(0o755)
    return (folder / "ran").exists()


def git(folder: Path, *words: str) -> None:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=30)


async def test_a_commit_message_is_asked_for_what_is_staged(path: Path) -> None:
    folder = path.parent
    model = Model({"subject": '"Read files as text."'})
    with pytest.raises(ActionError, match="is in no git repository"):
        await actions(model).commit_message(str(folder))
    git(folder, "init", "-q")
    with pytest.raises(ActionError, match="Nothing is staged"):
        await actions(model).commit_message(str(folder))
    git(folder, "add", "rows.py")
    put(path, CODE + "not_staged = 1\n")
    done = await actions(model).commit_message(str(folder))
    assert done.text == "Read files as text"
    assert "rows.py | 7 +++" in model.questions[0].user
    assert "not_staged" not in model.questions[0].user


async def test_in_a_folder_that_is_not_trusted_git_is_not_run(path: Path) -> None:
    model = Model({"subject": "Read files"})
    git(path.parent, "init", "-q")
    git(path.parent, "add", "rows.py")
    with pytest.raises(ActionError, match="is not trusted, so git is not run there"):
        await actions(model, trusted=False).commit_message(str(path.parent))
    assert model.questions == []


async def test_no_program_that_the_repository_names_is_run(path: Path) -> None:
    folder = path.parent
    git(folder, "init", "-q")
    trap = folder / "trap"
    put(trap, f"#!/bin/sh\ntouch {folder}/ran\n")
    assert ran(folder) is False
    for name in ("diff.external", "diff.x.command", "diff.x.textconv", "core.fsmonitor"):
        git(folder, "config", name, str(trap))
    put(folder / ".gitattributes", "*.py diff=x\n")
    git(folder, "-c", "core.fsmonitor=false", "add", "rows.py")
    done = await actions(Model({"subject": "Read files"})).commit_message(str(folder))
    assert done.text == "Read files"
    assert ran(folder) is False


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Add a timeout.", "Add a timeout"),
        ("\n`Add  a\ttimeout`\n\nBody", "Add a timeout"),
        ("", None),
        (" \n ", None),
        ("...", None),
        ("x" * 73, None),
    ],
)
def test_a_subject_line_is_one_line(text: str, subject: str | None) -> None:
    if subject is None:
        with pytest.raises(ActionError, match="no subject line"):
            subject_line(text)
    else:
        assert subject_line(text) == subject


def test_only_what_was_offered_may_be_chosen() -> None:
    fields: Json = {"old": {"enum": ["a"]}}
    assert chosen_fields(Answer('{"old": "a"}', True), fields) == {"old": "a"}
    with pytest.raises(ActionError):
        chosen_fields(Answer('{"old": "b"}', True), fields)
