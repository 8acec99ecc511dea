"""Fetches weights from the hub, on the user's word only; the one file that knows its library."""

import logging
import os
from importlib.util import find_spec
from typing import Any

import httpx2

from sidelight.model.local.weights import EXTRA, Store, WeightsError

HUB = "https://huggingface.co"


def address(store: Store) -> str:
    """Where the file can be had by other means."""
    base = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    return f"{base}/{store.weights.repo}/resolve/main/{store.weights.file}"


def fetch(store: Store) -> None:
    """Fetch the weights into the store, going on where an earlier try was cut. Blocks, unchecked.

    No credential of the user's is sent; `HF_ENDPOINT` names a mirror. Raises WeightsError.
    """
    if find_spec("huggingface_hub") is None:
        raise WeightsError(f"huggingface_hub is not installed; run: {EXTRA}")
    store.require_room()
    # Read when the library is imported. Its own protocol does not take up a cut download.
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    import huggingface_hub  # 120 ms, and only an install needs it
    from huggingface_hub import errors

    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    hub: Any = huggingface_hub
    weights = store.weights
    try:
        # First whether it is there at all: the download itself would try for half a minute.
        hub.get_hf_file_metadata(address(store), token=False)
        hub.hf_hub_download(weights.repo, weights.file, local_dir=store.folder, token=False)
    except (errors.HfHubHTTPError, errors.FileMetadataError, httpx2.HTTPError, OSError) as error:
        raise WeightsError(_advice(store, error)) from error


def _advice(store: Store, error: BaseException) -> str:
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    why = str(root).strip().split("\n", 1)[0] or type(root).__name__
    kept = store.kept_bytes // 1_000_000
    again = f"{kept} MB are here already and will not be fetched again. " if kept else ""
    return (
        f"The weights could not be fetched: {why}\n"
        f"{again}Check the network and the proxy (HTTPS_PROXY), or a mirror (HF_ENDPOINT), and try "
        f"again. Or fetch {address(store)} on another computer and run here: "
        "sidelight local install --from FILE"
    )
