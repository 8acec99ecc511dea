"""A hub of weights over real HTTP: what `huggingface_hub` asks of one file, and its faults."""

import hashlib
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Hub:
    """Serves `data` at every address of a file. `cut` breaks the first answer off after so many
    bytes; `status` refuses everything; `asked` are the requests with their range and credential."""

    data: bytes
    cut: int = 0
    status: int = 200
    asked: list[tuple[str, str, str, str]] = field(default_factory=list[tuple[str, str, str, str]])
    address: str = ""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_HEAD(self) -> None:
        self._note()
        if self._refused():
            return
        self._head(200, len(self.hub.data))
        self.end_headers()

    def do_GET(self) -> None:
        self._note()
        if self._refused():
            return
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start, whole = int(wanted[1]) if wanted else 0, self.hub.data
        self._head(206 if wanted else 200, len(whole) - start)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(whole) - 1}/{len(whole)}")
        self.end_headers()
        if self.hub.cut:
            end, self.hub.cut = self.hub.cut, 0
            self.wfile.write(whole[start:end])
            self.close_connection = True
            return
        self.wfile.write(whole[start:])

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _note(self) -> None:
        headers = self.headers
        self.hub.asked.append(
            (
                self.command,
                self.path,
                headers.get("Range", ""),
                headers.get("Authorization", ""),
            )
        )

    def _refused(self) -> bool:
        if self.hub.status == 200:
            return False
        self.send_response(self.hub.status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

    def _head(self, status: int, length: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("ETag", f'"{hashlib.sha256(self.hub.data).hexdigest()}"')


@contextmanager
def running_hub(data: bytes) -> Generator[Hub]:
    """A hub on a free port of the loopback."""
    hub = Hub(data)
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            server.shutdown()
            thread.join()
