"""A requirement that is called done is shown by a test that names it."""

import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROWS: dict[str, str] = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))[
    "rows"
]
MARK = re.compile(r'mark\.req\("([A-Z]+-\d+)"\)')


def marked() -> set[str]:
    return {
        row
        for path in TESTS.rglob("test_*.py")
        for row in MARK.findall(path.read_text(encoding="utf-8"))
    }


def test_every_row_is_done_or_open() -> None:
    assert set(ROWS.values()) <= {"done", "open"}


def test_every_row_that_is_done_has_a_test_and_every_mark_names_a_row() -> None:
    done = {row for row, state in ROWS.items() if state == "done"}
    assert done - marked() == set()
    assert marked() - set(ROWS) == set()
