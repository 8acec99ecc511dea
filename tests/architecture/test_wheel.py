"""The wheel works where the source tree is not."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 120
USE = """
import sidelight
from sidelight.resources.locate import resource
from sidelight.resources.prompts import PromptLibrary
library = PromptLibrary(resource("prompts"))
print(sidelight.__file__)
print(len(library.manifest().stable), len(library.tool("Edit")) > 100)
print((resource("sample") / "till" / "basket.py").exists())
print((resource("skills") / "README.md").exists())
print(resource("demonstration.json").exists())
"""


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> list[str]:
    """A program's output as lines; its complaint is in the failure."""
    done = subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder)]
    run(*build, str(ROOT), cwd=folder)
    return next(folder.glob("*.whl"))


@pytest.fixture
def python(wheel: Path, tmp_path: Path) -> Path:
    """The Python of a fresh environment with the wheel; only the libraries come from ours."""
    place = tmp_path / "venv"
    venv.create(place)
    inside = {"base": str(place), "platbase": str(place)}
    site = Path(sysconfig.get_path("purelib", "venv", inside))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    program = Path(sysconfig.get_path("scripts", "venv", inside)) / "python"
    install = ["install", "--quiet", "--no-index", "--no-deps", str(wheel)]
    run(sys.executable, "-m", "pip", "--python", program, *install, cwd=tmp_path)
    return program


def test_prompts_skills_and_the_sample_are_inside_whole(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        "sidelight/_data/prompts": ROOT / "prompts",
        "sidelight/_data/skills": ROOT / "skills",
        "sidelight/resources/sample": ROOT / "server" / "sidelight" / "resources" / "sample",
    }
    wanted = {
        f"{inside}/{path.relative_to(folder).as_posix()}"
        for inside, folder in sources.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted - names == set()
    assert "sidelight/resources/demonstration.json" in names
    assert {name.split("/")[0] for name in names} == {"sidelight", "sidelight-0.1.0.dist-info"}


def test_the_installed_package_finds_its_texts_and_runs(python: Path, tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    place, *rest = run(python, "-P", "-c", USE, cwd=tmp_path, env=env)
    assert Path(place).is_relative_to(tmp_path / "venv")
    assert rest == ["7 True", "True", "True", "True"]
    assert run(python, "-P", "-m", "sidelight", "--version", cwd=tmp_path, env=env) == ["0.1.0"]
    command = python.with_name("sidelight")
    assert run(command, "--version", cwd=tmp_path, env=env) == ["0.1.0"]
