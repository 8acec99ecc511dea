"""Trust is kept with our own state, by real paths, and never lost by a broken file."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from sidelight.settings.trusted import FILE, trust, trusted_folders


def test_a_folder_is_trusted_once_under_its_real_path(tmp_path: Path) -> None:
    state, folder = tmp_path / "state", tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    assert trusted_folders(state) == ()
    assert trust(state, str(tmp_path / "link")) == str(folder.resolve())
    assert trust(state, str(folder)) == str(folder.resolve())
    assert trusted_folders(state) == (str(folder.resolve()),)
    assert not (folder / FILE).exists()


def test_a_file_that_says_nothing_trusts_nothing(tmp_path: Path) -> None:
    for text in ("", "{", '{"a": 1}', "7", "\xff"):
        (tmp_path / FILE).write_text(text, encoding="latin-1")
        assert trusted_folders(tmp_path) == ()


def test_folders_that_are_trusted_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    folders = [str(tmp_path / str(number)) for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(trust, tmp_path), folders))
    real = sorted(os.path.realpath(folder) for folder in folders)
    assert sorted(trusted_folders(tmp_path)) == real
    assert sorted(json.loads((tmp_path / FILE).read_text(encoding="utf-8"))) == real
