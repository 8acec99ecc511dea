"""`sidelight local` as a process: from a hub over HTTP, or from a file, always with the pin."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sidelight.model.local.weights import Store
from tests.fakes.hub import Hub, running_hub
from tests.fakes.local_model_server import weights as shipped_file
from tests.fakes.small_model import installed, require, smollm2

pytestmark = pytest.mark.req("MODEL-06")
ROOT = Path(__file__).resolve().parents[2]
ONE_MB = 1_000_000
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def cache(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))


def local(*words: str, hub: str = NOWHERE, says: str = "") -> subprocess.CompletedProcess[str]:
    env = {
        **os.environ,
        "PYTHONPATH": f"{ROOT / 'server'}{os.pathsep}{ROOT}",
        "HF_ENDPOINT": hub,
        "HF_TOKEN": "hf_a_token_of_the_users",
        "NO_PROXY": "127.0.0.1",
    }
    command = [sys.executable, "-P", str(ROOT / "tests/fakes/small_model.py"), *words]
    return subprocess.run(
        command,
        check=False,
        env=env,
        input=says,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


@pytest.fixture(scope="module")
def data() -> bytes:
    require()
    return shipped_file().read_bytes()


def install(hub: Hub, *words: str, says: str = "") -> subprocess.CompletedProcess[str]:
    return local("install", *words, hub=hub.address, says=says)


def test_an_install_shows_licence_size_and_place_asks_checks_and_then_it_runs(data: bytes) -> None:
    store = Store(smollm2())
    with running_hub(data) as hub:
        done = install(hub, says="y\n")
        assert done.returncode == 0, done.stderr
        assert {authorization for *_, authorization in hub.asked} == {""}
    assert "TERMS AND CONDITIONS FOR USE" in done.stdout
    assert "Size:     98 MB on disk" in done.stdout
    assert f"Place:    {store.folder}" in done.stdout
    assert store.ready
    assert store.path.read_bytes() == data
    assert store.licence_path.read_text() == store.licence_text()
    status = local("status")
    assert (status.returncode, status.stderr) == (0, "")
    assert "Weights:  98 MB, checked" in status.stdout
    assert status.stdout.endswith("Runs:     yes\n")
    removed = local("remove")
    assert (removed.returncode, removed.stdout) == (0, "98 MB freed.\n")
    assert not store.folder.exists()


@pytest.mark.parametrize("says", ["n\n", "\n", ""])
def test_without_a_yes_nothing_is_fetched(data: bytes, says: str) -> None:
    with running_hub(data) as hub:
        done = install(hub, says=says)
        assert (done.returncode, hub.asked) == (1, [])
    assert done.stdout.endswith("Nothing was fetched.\n")
    assert not Store(smollm2()).folder.exists()


def test_a_download_that_is_cut_goes_on_where_it_was(data: bytes) -> None:
    with running_hub(data) as hub:
        hub.cut = 40 * ONE_MB
        done = install(hub, "--yes")
        again = install(hub, "--yes") if done.returncode else done
        assert again.returncode == 0, again.stderr
        ranges = [wanted for command, _, wanted, _ in hub.asked if command == "GET"]
    assert ranges[0] == ""
    assert ranges[1].startswith("bytes=")
    assert 30 * ONE_MB < int(ranges[1].strip("bytes=-")) <= 40 * ONE_MB
    assert Store(smollm2()).path.read_bytes() == data


def test_other_bytes_than_the_pinned_ones_are_refused_and_removed(data: bytes) -> None:
    with running_hub(data[:-1] + b"x") as hub:
        done = install(hub, "--yes")
    assert done.returncode == 1
    assert f"expected is {smollm2().sha256}" in done.stderr
    assert not Store(smollm2()).folder.exists()
    with running_hub(data[: 2 * ONE_MB]) as hub:
        done = install(hub, "--yes")
    assert "it has 2000000 bytes, expected is 98362432 bytes" in done.stderr
    assert not Store(smollm2()).folder.exists()


@pytest.mark.parametrize("status", [403, 404, 503])
def test_a_hub_that_refuses_is_told_with_what_to_do(data: bytes, status: int) -> None:
    with running_hub(data) as hub:
        hub.status = status
        done = install(hub, "--yes")
    assert done.returncode == 1
    assert "The weights could not be fetched: " in done.stderr
    assert "sidelight local install --from FILE" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_network_it_is_told_and_a_file_can_be_given_instead(tmp_path: Path) -> None:
    done = local("install", "--yes")
    assert done.returncode == 1
    assert f"fetch {NOWHERE}/{smollm2().repo}/resolve/main/smollm2.gguf" in done.stderr
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"GGUF")
    done = local("install", "--yes", "--from", str(wrong))
    assert (done.returncode, wrong.read_bytes()) == (1, b"GGUF")
    assert "it has 4 bytes" in done.stderr
    done = local("install", "--yes", "--from", str(shipped_file()))
    assert done.returncode == 0, done.stderr
    assert Store(smollm2()).ready
    done = local("install", "--yes", "--from", str(tmp_path / "none"))
    assert "is there already" in done.stdout


def test_weights_that_were_changed_after_the_check_are_not_ready() -> None:
    store = installed()
    assert store.ready
    data = store.path.read_bytes()
    store.path.unlink()
    store.path.write_bytes(data[:-1] + b"x")
    assert not store.ready
    done = local("status")
    assert done.returncode == 1
    assert done.stdout.endswith(
        "Runs:     no: the weights are not there; run: sidelight local install\n"
    )
