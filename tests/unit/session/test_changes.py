"""One change of a file is told once, whoever reports it and however often."""

from pathlib import Path

import pytest

from sidelight.core.host import FileChange
from sidelight.session.changes import ChangeJoiner


def report(path: Path, event: str = "change") -> FileChange:
    return FileChange.model_validate({"path": str(path), "event": event})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.txt"
    path.write_text("one", encoding="utf-8")
    return path


def test_a_save_and_the_watchers_report_of_it_are_one_change(file: Path) -> None:
    joiner = ChangeJoiner()
    assert joiner.news(report(file)) == report(file)
    assert joiner.news(report(file)) is None


def test_the_next_write_is_news_again(file: Path) -> None:
    joiner = ChangeJoiner()
    joiner.news(report(file))
    file.write_text("two!", encoding="utf-8")
    assert joiner.news(report(file)) == report(file)


def test_creation_and_removal_are_told_as_such_whatever_was_reported(tmp_path: Path) -> None:
    joiner = ChangeJoiner()
    path = tmp_path / "new.txt"
    path.write_text("x", encoding="utf-8")
    assert joiner.news(report(path, "add")) == report(path, "add")
    path.unlink()
    assert joiner.news(report(path, "change")) == report(path, "unlink")
    assert joiner.news(report(path, "unlink")) is None
    path.write_text("y", encoding="utf-8")
    assert joiner.news(report(path, "add")) == report(path, "add")
