"""URIs to paths and back, on both kinds of system."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidelight.lsp.convert import file_key, path_of, uri_of

pytestmark = pytest.mark.req("EDITOR-10")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///p/%E4%B8%AD%E6%96%87/a.py", "/p/中文/a.py"),
        ("file:///p/with%20space/100%25%23%3F.txt", "/p/with space/100%#?.txt"),
        ("file:///p/semi%3Bcolon%3A.txt", "/p/semi;colon:.txt"),
        ("file:///p/%5Bid%5D/%7Ex/a~b.ts", "/p/[id]/~x/a~b.ts"),
        ("FILE:///p/a.py", "/p/a.py"),
        ("file://localhost/p/a.py", "/p/a.py"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
        ("vscode-remote://wsl%2Bubuntu/w/a.py", "vscode-remote://wsl%2Bubuntu/w/a.py"),
        ("file:///p/a.py#L5-L10", "/p/a.py"),
    ],
)
def test_a_uri_names_a_path(uri: str, path: str) -> None:
    assert path_of(uri, windows=False) == path


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///c%3A/proj/a.py", "C:\\proj\\a.py"),
        ("file:///C:/proj/%E4%B8%AD/a%20b.py", "C:\\proj\\中\\a b.py"),
        ("file://server/share/x.txt", "\\\\server\\share\\x.txt"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
    ],
)
def test_a_uri_names_a_windows_path(uri: str, path: str) -> None:
    assert path_of(uri, windows=True) == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("C:\\proj\\中 x\\a.py", "file:///c%3A/proj/%E4%B8%AD%20x/a.py"),
        ("\\\\?\\C:\\p\\a.txt", "file:///c%3A/p/a.txt"),
        ("\\\\?\\UNC\\host\\share\\x", "file://host/share/x"),
        ("\\\\host\\share\\x y", "file://host/share/x%20y"),
        ("untitled:Untitled-1", "untitled:Untitled-1"),
    ],
)
def test_a_windows_path_has_a_uri(path: str, uri: str) -> None:
    assert uri_of(path, windows=True) == uri


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_any_path_comes_back_from_its_uri(name: str) -> None:
    path = "/" + name
    assert path_of(uri_of(path, windows=False), windows=False) == path


def test_a_path_of_any_bytes_comes_back_from_its_uri() -> None:
    path = os.fsdecode(b"/p/" + bytes(range(1, 256)))
    assert path_of(uri_of(path, windows=False), windows=False) == path


def test_all_spellings_of_a_file_have_one_key() -> None:
    windows = {
        file_key(path, platform="win32")
        for path in (
            "c:\\proj\\a.py",
            "C:/proj/A.py",
            "\\\\?\\C:\\proj\\a.py",
            path_of("file:///c%3A/proj/a.py", windows=True),
        )
    }
    assert windows == {"c:\\proj\\a.py"}
    composed, decomposed = "/p/caf\u00e9", "/p/cafe\u0301"
    assert file_key(composed, platform="darwin") == file_key(decomposed, platform="darwin")
    assert file_key(composed, platform="linux") != file_key(decomposed, platform="linux")
