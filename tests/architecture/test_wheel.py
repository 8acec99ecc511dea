"""The wheel works where the source tree is not."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
USE = """
import sidelight.resources.locate as locate
from sidelight.resources.prompts import PromptLibrary
library = PromptLibrary(locate.resource("prompts"))
print(locate.__file__)
print(len(library.manifest().stable), library.tool("Edit")[:4] != "")
print((locate.resource("sample") / "till" / "basket.py").exists())
print((locate.resource("skills") / "README.md").exists())
print(locate.resource("demonstration.json").exists())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True, timeout=120)
    return next(folder.glob("*.whl"))


def test_prompts_skills_and_the_sample_are_inside(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        "sidelight/_data/prompts/system.md",
        "sidelight/_data/skills/README.md",
        "sidelight/resources/sample/till/basket.py",
        "sidelight/resources/demonstration.json",
    }
    assert wanted <= names
    assert not [name for name in names if name.startswith("tests/")]


def test_the_installed_package_finds_its_texts_and_runs(wheel: Path, tmp_path: Path) -> None:
    """Unpacked in front of everything else, so that only the libraries come from outside."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    env = {**os.environ, "PYTHONPATH": str(site)}

    def python(*arguments: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-P", *arguments],
            cwd=tmp_path,
            env=env,
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        )
        return done.stdout.splitlines()

    place, *rest = python("-c", USE)
    assert place.startswith(str(site))
    assert rest == ["7 True", "True", "True", "True"]
    assert python("-m", "sidelight", "--version") == ["0.1.0"]
