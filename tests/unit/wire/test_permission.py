"""What a person sees before deciding, and what an answer means."""

import pytest

from sidelight.core.access import Access
from sidelight.core.content import ToolUse
from sidelight.core.decision import PermissionUpdate, Reason
from sidelight.core.host import FileEdit, PermissionPrompt, PermissionReply, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.wire.diffs import preview
from sidelight.wire.methods import DiffLine, FileDiff, PermissionAnswer, PermissionOutcome
from sidelight.wire.permission import choices_for, detail_of, plain_question, reply_to
from sidelight.wire.visible import for_terminal, hidden_characters, visible

pytestmark = pytest.mark.req("EDITOR-06")

PROJECT = PermissionUpdate(action="add", rules=("Bash(git log *)",), scope="local")
RULES, ALWAYS = (PROJECT.model_copy(update={"scope": scope}) for scope in ("session", "user"))
EDITS = PermissionUpdate(action="set_mode", mode="acceptEdits")


def prompt(command: str, *suggestions: PermissionUpdate) -> PermissionPrompt:
    return PermissionPrompt(
        id="p1",
        call=ToolUse(id="t1", name="Bash", input={"command": command, "description": "look"}),
        title="Run git",
        reason=Reason(layer="mode", detail="No rule allows it."),
        accesses=(
            Access(kind="execute", target=command),
            Access(kind="write", target="/w/out", mutates=True),
            Access(kind="execute", target=command, unsure="`$(x)` cannot be read"),
        ),
        suggestions=suggestions,
        dangerous=True,
    )


def answer(option: str | None, **ours: object) -> PermissionAnswer:
    outcome = "cancelled" if option is None else "selected"
    meta = {"sidelight": ours} if ours else None
    return PermissionAnswer(
        outcome=PermissionOutcome(outcome=outcome, option_id=option, _meta=meta)
    )


def test_nothing_is_hidden_in_a_command() -> None:
    """B074."""
    command = "git status" + " " * 300 + "; rm -rf build\u200b\u202e\r"
    shown = visible(command)
    assert shown == "git status ⟨300 spaces⟩ ; rm -rf build⟨U+200B⟩⟨U+202E⟩⟨U+000D⟩"
    assert hidden_characters(command) == ("U+200B", "U+202E", "U+000D")
    assert visible("a\n\tb  é中😀") == "a\n\tb  é中😀"
    detail = detail_of(prompt(command), (), "en")
    assert detail.command == command
    assert detail.effects[0] == "hidden characters: U+200B, U+202E, U+000D"
    assert "rm -rf build⟨U+200B⟩" in plain_question(prompt(command), (), "en")


def test_a_file_name_cannot_pose_as_another_in_a_question() -> None:
    name = "/w/invoice\u202etxt.exe\x1b[2K"
    asked = prompt("x").model_copy(
        update={
            "call": ToolUse(id="t1", name="Write", input={"file_path": name}),
            "title": f"Write {name}",
            "reason": Reason(layer="mode", detail=f"It changes a file: {name}."),
            "accesses": (Access(kind="write", target=name, mutates=True),),
        }
    )
    shown = "/w/invoice⟨U+202E⟩txt.exe⟨U+001B⟩[2K"
    detail = detail_of(asked, (), "en")
    assert (detail.title, detail.why) == (f"Write {shown}", f"It changes a file: {shown}.")
    assert detail.effects == (f"writes: {shown}",)
    assert plain_question(asked, (), "en").splitlines() == [
        f"Write {shown}",
        f"Why: It changes a file: {shown}.",
        f"writes: {shown}",
    ]


def test_text_has_no_power_over_a_terminal() -> None:
    hostile = "a\x1b]0;x\x07b\x9b2Jc\rd\u202ee\r\n\tf 👩\u200d💻"
    assert for_terminal(hostile) == (
        "a⟨U+001B⟩]0;x⟨U+0007⟩b⟨U+009B⟩2Jc⟨U+000D⟩d⟨U+202E⟩e\n\tf 👩\u200d💻"
    )


def test_the_plain_question_says_all_in_words() -> None:
    """B169."""
    assert plain_question(prompt("git log"), (), "en").splitlines() == [
        "Bash:",
        "git log",
        "Why: No rule allows it.",
        "writes: /w/out",
        "`$(x)` cannot be read",
    ]
    assert "原因：No rule allows it." in plain_question(prompt("git log"), (), "zh-cn")


@pytest.mark.parametrize(
    ("given", "reply"),
    [
        (answer("allow_once"), PermissionReply(behavior="allow")),
        (answer("allow_session"), PermissionReply(behavior="allow", remember=(RULES,))),
        (answer("allow_project"), PermissionReply(behavior="allow", remember=(PROJECT,))),
        (answer("allow_always"), PermissionReply(behavior="allow", remember=(ALWAYS,))),
        (answer("allow_forever"), PermissionReply(behavior="deny")),
        (answer("reject_once", feedback="why?"), PermissionReply(behavior="deny", feedback="why?")),
        (answer("reject_once", updatedInput={}), PermissionReply(behavior="deny")),
        (
            answer("allow_once", updatedInput={"command": "git diff"}),
            PermissionReply(behavior="allow", updated_input={"command": "git diff"}),
        ),
        (answer("allow_once", feedback=7), PermissionReply(behavior="allow")),
        (answer(None), PermissionReply(behavior="deny")),
    ],
)
def test_only_a_known_answer_is_a_yes(given: PermissionAnswer, reply: PermissionReply) -> None:
    choices = choices_for(prompt("git log", PROJECT), "en")
    assert reply_to(given, choices) == (reply, ())


def test_a_rule_is_offered_for_three_scopes_and_a_mode_for_the_session() -> None:
    def names(*suggestions: PermissionUpdate) -> list[str]:
        return [one.option.option_id for one in choices_for(prompt("x", *suggestions), "en")]

    kept = ["allow_session", "allow_project", "allow_always"]
    assert names(PROJECT) == ["allow_once", *kept, "reject_once"]
    assert names(EDITS) == ["allow_once", "allow_session", "reject_once"]
    assert names() == ["allow_once", "reject_once"]


def test_a_rule_that_the_person_edited_is_kept_in_the_scope_that_was_picked() -> None:
    choices = choices_for(prompt("git log", PROJECT), "en")
    reply, problems = reply_to(answer("allow_always", rules=["Bash(git log -1 *)"]), choices)
    edited = ALWAYS.model_copy(update={"rules": ("Bash(git log -1 *)",)})
    assert (reply, problems) == (PermissionReply(behavior="allow", remember=(edited,)), ())


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        (["Bash(git *)"], "The rule Bash(git *) was not kept: The * may stand only behind"),
        (["Bash(python *)"], "The rule Bash(python *) was not kept: Python runs whatever"),
        (["Edit(src/**)"], "The rule Edit(src/**) was not kept: The question was about Bash."),
        (["Bash(ls *)", "Bash(cat *)"], "The rules of the answer are not those of the question"),
        ([], "The rules of the answer are not those of the question"),
        ([7], "The rules of the answer are not those of the question"),
        ("Bash(ls)", "The rules of the answer are not those of the question"),
    ],
)
def test_an_edited_rule_that_reaches_too_far_is_not_kept_and_the_call_runs_once(
    rules: object, problem: str
) -> None:
    choices = choices_for(prompt("git log", PROJECT), "en")
    reply, problems = reply_to(answer("allow_always", rules=rules), choices)
    assert reply == PermissionReply(behavior="allow")
    assert len(problems) == 1
    assert problems[0].startswith(problem)


def test_the_part_of_a_command_that_caused_the_question_is_named() -> None:
    asked = prompt("cd /w && make it", PROJECT)
    reason = asked.reason.model_copy(update={"cause": "make it"})
    detail = detail_of(asked.model_copy(update={"reason": reason}), (), "en")
    assert (detail.cause, detail.rules_editable) == ("make it", True)
    whole = asked.reason.model_copy(update={"cause": "cd /w && make it"})
    assert detail_of(asked.model_copy(update={"reason": whole}), (), "en").cause is None


def test_many_effects_are_counted_not_dropped() -> None:
    many = tuple(Access(kind="read", target=f"/w/{number}") for number in range(20))
    detail = detail_of(prompt("x").model_copy(update={"accesses": many}), (), "en")
    assert detail.effects[-2:] == ("reads: /w/11", "and 8 more")


def test_a_preview_shows_changed_lines_with_three_around_them() -> None:
    before = "".join(f"{number}\r\n" for number in range(1, 21))
    start = before.index("10\r\n")
    parts = (
        TextEdit(start=start, end=start + 4, new_text="ten\r\nmore\r\n"),
        TextEdit(start=len(before), end=len(before), new_text="end"),
    )
    diff = preview(FileEdit(path="/w/a", base=digest_of(before), edits=parts), before)
    assert (diff.added, diff.removed, diff.creates) == (3, 1, False)
    assert [(line.sign, line.text, line.old, line.new) for line in diff.lines] == [
        (" ", "7", 7, 7),
        (" ", "8", 8, 8),
        (" ", "9", 9, 9),
        ("-", "10", 10, None),
        ("+", "ten", None, 10),
        ("+", "more", None, 11),
        (" ", "11", 11, 12),
        (" ", "12", 12, 13),
        (" ", "13", 13, 14),
        (" ", "18", 18, 19),
        (" ", "19", 19, 20),
        (" ", "20", 20, 21),
        ("+", "end", None, 22),
    ]


def test_a_new_file_is_all_added() -> None:
    part = TextEdit(start=0, end=0, new_text="a\nb\n")
    diff = preview(FileEdit(path="/w/a", base=None, edits=(part,)), None)
    lines = (DiffLine(sign="+", text="a", new=1), DiffLine(sign="+", text="b", new=2))
    assert diff == FileDiff(path="/w/a", added=2, removed=0, lines=lines, creates=True)
