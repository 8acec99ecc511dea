"""Snapshots and edits on the bare disk."""

import os
import resource
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidelight.core.errors import BinaryFileError, FileTooLargeError, HostError
from sidelight.core.host import EditOutcome, FileEdit, TextEdit
from sidelight.core.ledger import digest_of
from sidelight.files import disk
from sidelight.files.disk import apply_on_disk, apply_text_edits, read_snapshot
from sidelight.files.encoding import decode, encode


def replace(path: Path, old: str, new: str) -> EditOutcome:
    """Replace the one occurrence of `old` in the file."""
    before = read_snapshot(str(path))
    start = before.text.index(old)
    edit = TextEdit(start=start, end=start + len(old), new_text=new)
    return apply_on_disk((FileEdit(path=str(path), base=before.digest, edits=(edit,)),))


@contextmanager
def full_disk(allowed: int) -> Generator[None]:
    """No file may grow beyond so many bytes: writes fail as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (allowed, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\n", "b", "c", b"a\r\nc\r\n"),
        (
            b"\xef\xbb\xbfa=1\n' \xc3\xa9 \xc5\x91\n",
            "a=1",
            "a=2",
            b"\xef\xbb\xbfa=2\n' \xc3\xa9 \xc5\x91\n",
        ),
        (b"name=x\nbrand \x99\n", "=x", "=y", b"name=y\nbrand \x99\n"),
        ("設定\n".encode("cp932"), "定\n", "定\n追加\n", "設定\n追加\n".encode("cp932")),
        (b"\xff\xfeh\0i\0\n\0", "hi", "ho", b"\xff\xfeh\0o\0\n\0"),
        (b"a\nb\r\nc\rd", "c", "C", b"a\nb\r\nC\rd"),
        (b"a\x0cb\xe2\x80\xa8c", "b", "B", b"a\x0cB\xe2\x80\xa8c"),
        (b"all:\n\techo hi\n", "hi", "ho", b"all:\n\techo ho\n"),
    ],
    ids=["B002", "B004", "B007", "B008", "utf-16", "mixed-ends", "form-feed-U+2028", "B014"],
)
def test_an_edit_changes_its_bytes_and_no_others(
    tmp_path: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    path = tmp_path / "file"
    path.write_bytes(before)
    assert replace(path, old, new).applied
    assert path.read_bytes() == after


def test_editing_to_and_fro_does_not_grow_the_end(tmp_path: Path) -> None:
    """B016."""
    path = tmp_path / "x"
    path.write_bytes(b"x\n")
    for old, new in [("x", "y"), ("y", "x")] * 5:
        assert replace(path, old, new).applied
    assert path.read_bytes() == b"x\n"


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_an_edit_leaves_the_bytes_before_and_after_its_span(data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252", "cp932"]))
    raw = data.draw(st.text(max_size=60)).encode(codec, "ignore")
    try:
        decoded = decode(raw)
    except BinaryFileError:
        return
    text = decoded.text
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    new = data.draw(st.text(st.characters(max_codepoint=127), max_size=10))
    changed = apply_text_edits(text, (TextEdit(start=start, end=end, new_text=new),))
    if decoded.encoding == "iso2022_jp":
        return  # its bytes depend on what stands before them
    head = encode(text[:start], decoded.encoding, decoded.bom)
    tail = text[end:].encode(
        decoded.encoding, "surrogatepass" if "utf" in decoded.encoding else "strict"
    )
    written = encode(changed, decoded.encoding, decoded.bom)
    assert written.startswith(head)
    assert written.endswith(tail)
    assert len(written) == len(head) + len(new.encode(decoded.encoding)) + len(tail)


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40), st.text(max_size=3)), max_size=4),
)
def test_edits_in_order_are_the_same_as_from_the_end(
    text: str, parts: list[tuple[int, int, str]]
) -> None:
    edits = [TextEdit(start=a, end=b, new_text=new) for a, b, new in parts]
    ends = [0, *(e.end for e in edits)]
    fits = all(end <= e.start <= e.end <= len(text) for end, e in zip(ends, edits, strict=False))
    if not fits:
        with pytest.raises(ValueError, match="overlaps"):
            apply_text_edits(text, edits)
        return
    expected = text
    for edit in reversed(edits):
        expected = expected[: edit.start] + edit.new_text + expected[edit.end :]
    assert apply_text_edits(text, edits) == expected


def test_a_link_stays_and_its_target_changes(tmp_path: Path) -> None:
    """B019."""
    (tmp_path / "real.txt").write_text("v1\n")
    (tmp_path / "middle.txt").symlink_to("real.txt")
    (tmp_path / "link.txt").symlink_to("middle.txt")
    assert replace(tmp_path / "link.txt", "v1", "v2").applied
    assert (tmp_path / "link.txt").readlink() == Path("middle.txt")
    assert (tmp_path / "middle.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "v2\n"


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new.txt")
    edit = FileEdit(
        path=str(tmp_path / "link"), base=None, edits=(TextEdit(start=0, end=0, new_text="x"),)
    )
    assert apply_on_disk((edit,)).applied
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new.txt").read_text() == "x"


def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    """B019: the hops are bounded."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    edit = FileEdit(path=str(tmp_path / "a"), base=None, edits=())
    outcome = apply_on_disk((edit,))
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert outcome.detail == f"{tmp_path / 'a'} is a symbolic link that leads to itself"


@pytest.mark.req("TOOL-05")
def test_mode_owner_and_attributes_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.sh"
    path.write_text("echo 1\n")
    path.chmod(0o2750)
    if os.geteuid() == 0:
        os.chown(path, 4711, 4712)
        path.chmod(0o2750)
    os.setxattr(path, "user.note", b"kept")
    before = path.stat()
    assert replace(path, "1", "2").applied
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert os.getxattr(path, "user.note") == b"kept"
    assert after.st_ino != before.st_ino


def test_a_new_file_gets_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        edit = FileEdit(path=str(tmp_path / "new"), base=None, edits=())
        assert apply_on_disk((edit,)).applied
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_hard_links_stay_joined_and_it_is_said(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_text("long old text\n")
    two.hardlink_to(one)
    outcome = replace(one, "long old text", "new")
    assert outcome.applied
    assert outcome.note == "one has 2 hard links; all of them changed."
    assert (one.read_text(), two.read_text()) == ("new\n", "new\n")
    assert one.stat().st_ino == two.stat().st_ino


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "locked"
    path.write_text("a")
    path.chmod(0o444)
    outcome = replace(path, "a", "b")
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert outcome.detail.startswith(f"{path} is read-only (mode 0444).")
    assert path.read_text() == "a"


@pytest.mark.parametrize("linked", [False, True], ids=["replaced", "in-place"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, linked: bool) -> None:
    path = tmp_path / "file"
    path.write_text("old\n" * 10)
    if linked:
        (tmp_path / "other").hardlink_to(path)
    names = sorted(p.name for p in tmp_path.iterdir())
    with full_disk(allowed=200):
        outcome = replace(path, "old\nold", "n" * 5000)
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert "nothing was changed" in outcome.detail
    assert path.read_text() == "old\n" * 10
    assert sorted(p.name for p in tmp_path.iterdir()) == names


def test_when_the_second_file_fails_the_first_is_as_before(tmp_path: Path) -> None:
    first, new, second = tmp_path / "1", tmp_path / "folder/new", tmp_path / "2"
    first.write_text("one")
    second.write_text("two")
    (tmp_path / "2b").hardlink_to(second)
    edits = (
        FileEdit(
            path=str(first), base=digest_of("one"), edits=(TextEdit(start=0, end=3, new_text="1"),)
        ),
        FileEdit(path=str(new), base=None, edits=(TextEdit(start=0, end=0, new_text="n"),)),
        FileEdit(
            path=str(second),
            base=digest_of("two"),
            edits=(TextEdit(start=0, end=3, new_text="2" * 900),),
        ),
    )
    with full_disk(allowed=200):
        outcome = apply_on_disk(edits)
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["1", "2", "2b"]


def test_one_file_named_twice_through_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").symlink_to("a")
    edits = [FileEdit(path=str(tmp_path / n), base=digest_of("a"), edits=()) for n in "ab"]
    outcome = apply_on_disk(edits)
    assert (outcome.applied, outcome.detail) == (
        False,
        f"{tmp_path / 'b'} is named twice in one edit",
    )


def test_a_character_that_the_file_cannot_hold_leaves_it_alone(tmp_path: Path) -> None:
    """B008."""
    path = tmp_path / "latin.txt"
    path.write_bytes(b"caf\xe9 x\n")
    outcome = replace(path, "x", "追加")
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert "cp1252, which cannot hold '追'" in outcome.detail
    assert path.read_bytes() == b"caf\xe9 x\n"


def test_a_file_in_place_of_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    edit = FileEdit(path=str(tmp_path / "file/new"), base=None, edits=())
    outcome = apply_on_disk((edit,))
    assert (outcome.applied, outcome.failure) == (False, "refused")
    assert "Not a directory" in outcome.detail


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HostError, match="not a regular file but a pipe"):
        read_snapshot(str(tmp_path / "pipe"))


def test_a_binary_file_is_named_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    with pytest.raises(BinaryFileError) as caught:
        read_snapshot(str(tmp_path / "a.png"))
    assert str(caught.value) == f"{tmp_path / 'a.png'} is a PNG image, not text"


def test_a_file_too_large_for_memory_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(disk.MAX_TEXT_BYTES + 1)
    with pytest.raises(FileTooLargeError, match="67,108,865 bytes"):
        read_snapshot(str(tmp_path / "big"))


def test_a_file_is_removed_only_while_it_holds_what_the_edit_was_made_for(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    path.write_text("mine\n")
    stale = FileEdit(path=str(path), base=digest_of("other\n"), edits=(), removes=True)
    assert apply_on_disk((stale,)).failure == "stale"
    assert path.exists()
    outcome = apply_on_disk((stale.model_copy(update={"base": digest_of("mine\n")}),))
    assert (outcome.applied, outcome.after, path.exists()) == (True, (), False)


@contextmanager
def open_to_all() -> Generator[Path]:
    """A folder in which nobody in particular may work; what runs there has no rights of root."""
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        if root:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            for path in folder.rglob("*"):
                path.chmod(0o755)
            if root:
                os.seteuid(0)


def test_all_edits_are_taken_back_when_one_of_several_files_cannot_be_removed() -> None:
    with open_to_all() as folder:
        paths = [folder / "1.txt", folder / "2.txt", folder / "locked" / "3.txt"]
        paths[2].parent.mkdir()
        for path in paths:
            path.write_text("mine\n", encoding="utf-8")
            path.chmod(0o640)
        paths[2].parent.chmod(0o555)
        change = TextEdit(start=0, end=4, new_text="yours")
        base = digest_of("mine\n")
        outcome = apply_on_disk(
            (
                FileEdit(path=str(paths[0]), base=base, edits=(change,)),
                FileEdit(path=str(paths[1]), base=base, edits=(), removes=True),
                FileEdit(path=str(paths[2]), base=base, edits=(), removes=True),
            )
        )
        assert (outcome.applied, outcome.failure) == (False, "refused")
        assert outcome.detail == f"{paths[2]}: Permission denied; nothing was changed"
        found = sorted(path for path in folder.rglob("*") if path.is_file())
        assert found == paths
        assert [path.read_text(encoding="utf-8") for path in found] == ["mine\n"] * 3
        assert [stat.S_IMODE(path.stat().st_mode) for path in found] == [0o640] * 3


def test_files_are_removed_and_changed_together_and_nothing_else_is_left(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("1.txt", "2.txt", "3.txt")]
    for path in paths:
        path.write_text("mine\n", encoding="utf-8")
    base = digest_of("mine\n")
    gone = [FileEdit(path=str(path), base=base, edits=(), removes=True) for path in paths[:2]]
    change = TextEdit(start=0, end=4, new_text="yours")
    outcome = apply_on_disk((*gone, FileEdit(path=str(paths[2]), base=base, edits=(change,))))
    assert (outcome.applied, [one.text for one in outcome.after]) == (True, ["yours\n"])
    assert list(tmp_path.iterdir()) == [paths[2]]


def test_the_same_bytes_are_decoded_once_and_others_at_once(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("one\n" * 99)
    first = read_snapshot(str(path))
    assert read_snapshot(str(path)).text is first.text
    path.write_text("two\n" * 99)
    assert read_snapshot(str(path)).text == "two\n" * 99
