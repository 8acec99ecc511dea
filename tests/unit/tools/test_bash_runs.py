"""Whatever bash runs was seen: random scripts are executed and held against the accesses."""

import contextlib
import itertools
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidelight.tools.bash.effects import accesses
from tests.cases.evaluate import Standing

NUMBERS = itertools.count()
PROGRAMS = ("p0", "p1", "p2", "p3")
NAME = st.sampled_from(PROGRAMS)
SIGNS = st.sampled_from(["; ", " && ", " || ", " | ", " & ", "\n", ";", "|", " |& ", "&&"])
MOVES = ("cd d1", "cd ..", "cd d1/d2", "cd nowhere", "cd .", "cd ./d1/../d1", "command cd d1",
         "eval 'cd d1'", "cd -- d1", "d=d1; cd $d", "cd d1 2>&1")  # fmt: skip
PLAIN = st.sampled_from(
    ["a", "'b c'", '"d"', "-x", "\\;", "{e,f}", "#g", "h#", "1", "=", "~", "''"]
)


def _command(name: str, words: list[str]) -> str:
    return " ".join([name, *words])


def _pair(left: str, sign: str, right: str) -> str:
    return f"{left}{sign}{right}"


def _inside(script: str, form: str) -> str:
    return form.replace("@", script)


def scripts(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    word = st.one_of(
        PLAIN,
        st.builds(
            _inside,
            inner,
            st.sampled_from(
                ["$(@)", "`@`", '"$(@)"', '"x$(@)y"', "<(@)", "${z:-$(@)}", '"${z:-$(@)}"',
                 "$(( 1 + $(@) ))", "a$(@)", "'$(@)'", '"\\$(@)"', "$(@)`@`"]
            ),
        ),
    )  # fmt: skip
    program = st.builds(_command, NAME, st.lists(word, max_size=3))
    command = st.one_of(program, st.sampled_from(MOVES))
    pair = st.builds(_pair, inner, SIGNS, inner)
    wrapped = st.builds(
        _inside,
        inner,
        st.sampled_from(
            ["( @ )", "{ @; }", "! @", "if @; then @; fi", "if false; then :; else @; fi",
             "for i in 1 2; do @; done", "for i in 1; do @\ndone", "while @; do break; done",
             "until @; do break; done", "case x in x) @;; esac", "case x in y) :;; *) @ ;; esac",
             "f() { @; }; f", "function g { @; }; g", "eval '@'", "command @", "x=p0; $x; @",
             "cat_() { :; }; cat_ <<EOF\n$(@)\nEOF", "cat_() { :; }; cat_ <<'EOF'\n@\nEOF",
             ": <<EOF && @\nx\nEOF", ": <<EOF | @\nx\nEOF", ": <<< \"$(@)\"", "@ > out", "@ 2>&1",
             "[ -n \"$(@)\" ]", "[[ -n $(@) ]]", "y=$(@)", "y=$(@) :", "export y=$(@)",
             "time @", "a=($(@))", "echo a # '\n@", "true; # x\\\n@", ": \\\n@", "time -p @",
             "builtin command @", "(( 1 )) && @", "coproc @", "trap '@' EXIT", "exec @",
             "select_() { :; }; @", "@ <<< x", "@ < /dev/null > out", "x=1 @", "> out @",
             "if @\nthen @\nfi",
             "while false; do @; done; @", "{ @; } > out", "( @ ) | @", "@ &\nwait"]
        ),
    )  # fmt: skip
    return st.one_of(command, pair, wrapped)


SCRIPT = st.recursive(NAME, scripts, max_leaves=6)


def mutated(script: str, cut: int, junk: str) -> str:
    position = cut % (len(script) + 1)
    return script[:position] + junk + script[position + (cut % 2) :]


JUNK = st.sampled_from(["", "", "\\\n", "é", *" ;\\\"'`$(){}#\n&|=<>~!"])


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        path = folder / name
        path.write_text(f'#!/bin/sh\necho {name} "$PWD" >> "$RUN_LOG"\n', encoding="utf-8")
        path.chmod(0o755)
    return folder


def seen_programs(script: str, cwd: str = "/nowhere") -> set[tuple[str, str]] | None:
    """The programs that the engine saw with their folders, or None where it is not sure.

    An empty folder stands for several; the home folder is the one where the script begins.
    """
    found = accesses(script, Standing(cwd))
    if any(access.unsure for access in found):
        return None
    executed = [access for access in found if access.kind == "execute" and access.words]
    return {(access.words[0], access.folder.replace("~", cwd, 1)) for access in executed}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(SCRIPT, st.integers(0, 10_000), JUNK)
def test_every_program_that_bash_runs_was_seen(
    programs: Path, tmp_path: Path, script: str, cut: int, junk: str
) -> None:
    text = mutated(script, cut, junk)
    (tmp_path / "d1" / "d2").mkdir(parents=True, exist_ok=True)
    seen = seen_programs(text, str(tmp_path))
    if seen is None or "\0" in text:
        return
    log = tmp_path / f"log-{next(NUMBERS)}"
    log.write_text("", encoding="utf-8")
    bash = shutil.which("bash") or "bash"
    environment = {"PATH": str(programs), "RUN_LOG": str(log), "HOME": str(tmp_path)}
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [bash, "--norc", "-c", text], cwd=tmp_path, env=environment, timeout=2, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, process_group=0,
        )  # fmt: skip
    ran = [line.split(" ", 1) for line in log.read_text(encoding="utf-8").splitlines()]
    unseen = [line for line in ran if not {(line[0], line[1]), (line[0], "")} & seen]
    assert unseen == [], text


def test_the_scripts_do_run_their_programs(programs: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    environment = {**os.environ, "PATH": str(programs), "RUN_LOG": str(log)}
    bash = shutil.which("bash") or "bash"
    subprocess.run([bash, "-c", "p0 | p1 $(p2)"], env=environment, check=True, timeout=10)
    ran = log.read_text(encoding="utf-8").splitlines()
    assert {line.split()[0] for line in ran} == {"p0", "p1", "p2"}
