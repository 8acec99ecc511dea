"""Every file has one name."""

from pathlib import Path

import pytest

from sidelight.core.errors import ToolError
from sidelight.files.paths import locate, plain_windows, real


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("\\\\?\\C:\\p\\a.txt", "C:\\p\\a.txt"),
        ("\\??\\c:\\p\\a.txt", "C:\\p\\a.txt"),
        ("\\\\.\\c:\\p", "C:\\p"),
        ("//?/c:/p/a.txt", "C:\\p\\a.txt"),
        ("\\\\?\\UNC\\host\\share\\x", "\\\\host\\share\\x"),
        ("\\\\host\\share\\x", "\\\\host\\share\\x"),
        ("c:/proj/a.py", "C:\\proj\\a.py"),
    ],
)
def test_windows_prefixes_slashes_and_drives_are_evened_out(written: str, plain: str) -> None:
    """B043, B149."""
    assert plain_windows(written) == plain


def test_a_link_is_kept_in_the_name_and_resolved_in_the_key(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    named = locate("link/new.txt", str(tmp_path), [])
    assert named == str(tmp_path / "link/new.txt")
    assert real(named) == str((tmp_path / "real").resolve() / "new.txt")


def test_the_parent_of_a_link_is_that_of_its_target(tmp_path: Path) -> None:
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/away")
    located = locate("link/../x", str(tmp_path), [])
    assert located == str((tmp_path / "far").resolve() / "x")


def test_a_new_file_goes_to_the_folder_that_its_path_names(tmp_path: Path) -> None:
    """B142."""
    front, back = tmp_path / "front", tmp_path / "back"
    front.mkdir()
    back.mkdir()
    roots = [str(front), str(back)]
    assert locate("back/new.py", str(front), roots) == str(back / "new.py")
    assert locate("lib/new.py", str(front), roots) == str(front / "lib/new.py")
    (front / "back").mkdir()
    assert locate("back/new.py", str(front), roots) == str(front / "back/new.py")


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_no_path_is_refused(path: str) -> None:
    with pytest.raises(ToolError):
        locate(path, "/", [])
