"""PowerShell as far as it can be shown without one: what is started, and what it may do."""

import json
import os
import stat
from pathlib import Path

import pytest

from sidelight.app.shell import shell_tools, shells
from sidelight.background.task import Ending
from sidelight.background.tasks import Background
from sidelight.core.decision import Allow, Ask, Decision
from sidelight.core.tool import Shell
from sidelight.permissions.pipeline import decide
from sidelight.permissions.policy import Policy, RuleSource
from sidelight.permissions.question import Question
from sidelight.permissions.rule import Source
from sidelight.tools.powershell import PowerShell, exported, powershell_tool, script
from sidelight.tools.shell.dialect import Order
from sidelight.tools.shell.options import ShellOptions
from tests.unit.tools.shell_bench import Bench, text_of

# A stand-in that notes its words and then behaves as the text in `answer` says.
PWSH = """#!/bin/sh
for word in "$@"; do printf '%s\\0' "$word"; done > "$HOME/words"
. "$HOME/answer"
"""


def program(folder: Path, name: str, text: str = "#!/bin/sh\n") -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def order(folder: Path, *env_files: str) -> Order:
    return Order("x", {}, env_files, folder / "it's cwd", folder / "script")


@pytest.mark.anyio
async def test_the_command_is_handed_over_in_a_file_and_the_folder_is_taken_over(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    sub = bench.root / "sub"
    sub.mkdir()
    program(tmp_path / "bin", "pwsh", PWSH)
    bench.environment = {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
    }
    (tmp_path / "answer").write_text(
        f'cat "{bench.scratch}/script-toolu_1"; printf %s "{sub}" > "{bench.scratch}/cwd-toolu_1"\n'
        "exit 3\n"
    )
    tool = powershell_tool(bench.options, bench.background)
    command = "cd sub; Write-Output 'it''s \u4e2d'"
    output = await bench.call(tool, {"command": command})
    assert text_of(output) == f"Exit code 3\n{command}"
    assert (output.cwd, output.is_error) == (str(sub), True)
    words = (tmp_path / "words").read_text(encoding="utf-8").split("\0")
    assert words[:4] == ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command"]
    assert words[4] == script(
        Order(command, {}, (), bench.scratch / "cwd-toolu_1", bench.scratch / "script-toolu_1")
    )
    assert list(bench.scratch.iterdir()) == []


def test_the_script_reads_the_file_reports_the_folder_and_keeps_the_exit_code(
    tmp_path: Path,
) -> None:
    env_file = tmp_path / "env"
    env_file.write_text("export A='it'\"'\"'s' B=2 # note\necho no\nexport BROKEN='x\nexport C\n")
    assert list(exported(str(env_file))) == [("A", "it's"), ("B", "2")]
    assert list(exported(str(tmp_path / "none"))) == []
    text = script(order(tmp_path, str(env_file)))
    assert "$env:A = 'it''s'\n$env:B = '2'\n" in text
    assert f"[IO.File]::WriteAllText('{tmp_path}/it''s cwd', $sidelightAt)" in text
    assert text.endswith("if (-not $sidelightOk) { exit 1 }\nexit 0")


@pytest.mark.parametrize(
    ("command", "code", "ending"),
    [
        ("robocopy a b", 3, Ending(False, "files were copied or differ")),
        ("robocopy a b", 8, Ending(True)),
        ("Get-Content a | findstr x", 1, Ending(False, "no lines matched")),
        ("git diff --exit-code", 1, Ending(False, "there are differences")),
        ("npm test", 1, Ending(True)),
        ("npm test", 0, Ending(False)),
    ],
)
def test_exit_codes_that_are_answers(command: str, code: int, ending: Ending) -> None:
    assert PowerShell().ending(command, code, None) == ending


def decided(rules: dict[str, tuple[str, ...]], mode: str = "default") -> Decision:
    dialect = PowerShell()
    policy = Policy(
        mode=mode,  # pyright: ignore[reportArgumentType] - a literal at each call
        sources=(RuleSource(Source("user"), rules.get("allow", ()), (), rules.get("deny", ())),),
        roots=("/w",),
        cwd="/w",
        home="/h",
    )
    accesses = tuple(dialect.touches("Remove-Item a", Shell("/w", ("/w",))))
    question = Question("PowerShell", json.loads('{"command": "Remove-Item a"}'), accesses)
    return decide(question, policy)


def test_only_a_rule_for_powershell_itself_lets_a_command_through() -> None:
    assert isinstance(decided({}), Ask)
    assert isinstance(decided({"allow": ("Bash",)}), Ask)
    assert isinstance(decided({"allow": ("Bash(Remove-Item *)",)}), Ask)
    assert isinstance(decided({"allow": ("PowerShell",)}), Allow)
    assert isinstance(decided({}, "bypassPermissions"), Allow)


def test_a_rule_against_some_commands_is_asked_since_the_text_is_not_read() -> None:
    rules = {"allow": ("PowerShell",), "deny": ("PowerShell(Remove-Item *)",)}
    assert isinstance(decided(rules), Ask)
    assert isinstance(decided(rules, "bypassPermissions"), Ask)
    assert decided({"deny": ("PowerShell",)}).behavior == "deny"


def test_which_shells_there_are_depends_on_the_platform(tmp_path: Path) -> None:
    def named(*programs: str, platform: str = "win32") -> list[str]:
        folder = tmp_path / "-".join(("bin", *programs))
        folder.mkdir()
        for name in programs:
            program(folder, name)
        return [shell.name for shell in shells({"PATH": str(folder)}, platform)]

    assert named("powershell") == ["PowerShell"]
    assert named("bash", "pwsh") == ["Bash", "PowerShell"]
    assert named("bash") == ["Bash"]
    assert named() == ["PowerShell"]
    assert named("pwsh", "x", platform="linux") == ["Bash"]
    options = ShellOptions(dict, background=False)
    assert [tool.name for tool in shell_tools(options, Background(), "linux")] == ["Bash"]
