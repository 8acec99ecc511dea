"""FileChanged hooks hear of the files that they name, of all others not."""

from pathlib import Path

import pytest

from sidelight.hooks.matcher import MatcherError
from sidelight.hooks.watch import FileRuns, is_wanted, watch_list

FOLDERS = ("/app", "/app/sub")


@pytest.mark.parametrize(
    ("matcher", "path", "wanted"),
    [
        (".env|.envrc", "/app/.env", True),
        (".env|.envrc", "/app/sub/.envrc", True),
        (".env|.envrc", "/app/deep/.env", False),
        (".env", "/app/.env.local", False),
        ("package.json", "/app/package.json", True),
        ("package.json", "/app/node_modules/x/package.json", False),
        ("conf/app.toml", "/app/conf/app.toml", True),
        ("*.py", "/app/deep/down/x.py", True),
        ("*.py", "/other/x.py", False),
        ("*.py", "/app/x.pyc", False),
        ("*.py|Makefile", "/app/Makefile", True),
        ("test_?.py", "/app/test_a.py", True),
        ("test_?.py", "/app/test_ab.py", False),
        (".*env", "/app/.my-env", True),
        (".*env", "/app/my-env", False),
        (r"\.py$", "/app/deep/x.py", True),
        (r"\.py$", "/app/deep/x.pyc", False),
        (r"\.py$", "/other/x.py", False),
        (None, "/app/any/thing", True),
        ("*", "/app/any/thing", True),
        ("", "/apple/thing", False),
    ],
)
def test_a_change_is_wanted_only_where_the_matcher_says(
    matcher: str | None, path: str, wanted: bool
):
    assert is_wanted(matcher, path, FOLDERS, ()) is wanted


def test_added_paths_are_wanted_wherever_they_lie_if_the_name_fits():
    added = ("/etc/hosts", "/deep/.env")
    assert is_wanted("hosts", "/etc/hosts", FOLDERS, added)
    assert is_wanted("*", "/etc/hosts", FOLDERS, added)
    assert is_wanted("*.env", "/deep/.env", FOLDERS, added)
    assert is_wanted(r"^\.env$", "/deep/.env", FOLDERS, added)
    assert not is_wanted(".env", "/etc/hosts", FOLDERS, added)


def test_a_folder_reached_through_a_link_is_the_same_folder(tmp_path: Path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert is_wanted("a.txt", str(tmp_path / "link" / "a.txt"), [str(real)], ())
    assert is_wanted("*.txt", str(real / "a.txt"), [str(tmp_path / "link")], ())


def test_the_watch_list_names_files_and_globs_in_all_folders_once():
    assert watch_list([".env|*.py", ".env", r"\.js$"], FOLDERS, ["/etc/hosts"]) == (
        "/etc/hosts",
        "/app/.env",
        "/app/**/*.py",
        "/app/**",
        "/app/sub/.env",
        "/app/sub/**/*.py",
        "/app/sub/**",
    )


def test_a_matcher_that_is_no_pattern_is_an_error():
    with pytest.raises(MatcherError):
        is_wanted("(", "/app/x", FOLDERS, ())


def test_a_hook_does_not_start_again_for_what_it_wrote_itself(tmp_path: Path):
    file = tmp_path / "a"
    file.write_text("1", encoding="utf-8")
    runs = FileRuns()
    assert runs.begin("fmt", str(file))
    file.write_text("22", encoding="utf-8")
    assert not runs.begin("fmt", str(file))
    assert runs.begin("other", str(file))
    runs.end("fmt", str(file))
    assert not runs.begin("fmt", str(file))
    file.write_text("333", encoding="utf-8")
    assert runs.begin("fmt", str(file))


def test_a_file_that_comes_and_goes_is_news_each_time(tmp_path: Path):
    file = tmp_path / "a"
    runs = FileRuns()
    for present in (True, False, True):
        if present:
            file.write_text("x", encoding="utf-8")
        else:
            file.unlink()
        assert runs.begin("fmt", str(file))
        runs.end("fmt", str(file))
        assert not runs.begin("fmt", str(file))
