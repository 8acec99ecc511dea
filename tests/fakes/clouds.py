"""A cloud's door on a loopback port: answers in the cloud's own framing, keeps what came."""

import asyncio
import json
import struct
from base64 import b64encode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal
from zlib import crc32

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from tests.fakes.network import listening

Framing = Literal["events", "aws"]

EVENTS: tuple[dict[str, Any], ...] = (
    {
        "type": "message_start",
        "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
            "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": 3, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "hello"},
    },
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 2},
    },
    {"type": "message_stop"},
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """A request as it came; names of headers in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


@dataclass
class CloudDouble:
    """Answers every model request alike; `/token` gives the token `minted`.

    `refusal` is a status and a body that are given instead of an answer.
    """

    framing: Framing = "events"
    refusal: tuple[int, dict[str, Any]] | None = None
    seen: list[Seen] = field(default_factory=list[Seen])
    port: int = 0

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        lines = head.split("\r\n")
        method, path, _ = lines[0].split(" ")
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Seen(method, path, headers, body)
        self.seen.append(request)
        status, kind, answer = self._answer(request)
        writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n"
            f"content-length: {len(answer)}\r\n\r\n".encode()
            + answer
        )
        await writer.drain()

    def _answer(self, request: Seen) -> tuple[int, str, bytes]:
        if request.path == "/token":
            token = {"access_token": "minted", "expires_in": 3600, "token_type": "Bearer"}
            return 200, "application/json", json.dumps(token).encode()
        if self.refusal:
            return self.refusal[0], "application/json", json.dumps(self.refusal[1]).encode()
        if self.framing == "aws":
            pieces = b"".join(aws_frame(event) for event in EVENTS)
            return 200, "application/vnd.amazon.eventstream", pieces
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in EVENTS)
        return 200, "text/event-stream", "".join(lines).encode()


@asynccontextmanager
async def running_cloud(double: CloudDouble) -> AsyncGenerator[CloudDouble]:
    """Let it listen on a free port."""
    async with listening(double):
        yield double


def aws_frame(event: dict[str, Any]) -> bytes:
    """One event in Amazon's binary framing: lengths, checksum, headers, payload, checksum."""
    payload = json.dumps({"bytes": b64encode(json.dumps(event).encode()).decode()}).encode()
    named = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    headers = b"".join(
        struct.pack(f"!B{len(name)}sBH", len(name), name.encode(), 7, len(value)) + value.encode()
        for name, value in named.items()
    )
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack("!I", crc32(prelude)) + headers + payload
    return message + struct.pack("!I", crc32(message))


def is_signed(request: Seen, url: str, secret: str, service: str) -> bool:
    """Whether a request carries the signature that Amazon's own library makes for it."""
    proof = request.headers.get("authorization", "")
    scheme, _, rest = proof.partition(" ")
    parts = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    if scheme != "AWS4-HMAC-SHA256":
        return False
    key, _, region, named, _ = parts["Credential"].split("/")
    names = parts["SignedHeaders"].split(";")
    again: Any = AWSRequest(
        method=request.method,
        url=url + request.path,
        data=request.body,
        headers={name: request.headers[name] for name in names},
    )
    again.context["timestamp"] = request.headers["x-amz-date"]
    signer: Any = SigV4Auth(Credentials(key, secret), named, region)
    text = signer.string_to_sign(again, signer.canonical_request(again))
    return named == service and signer.signature(text, again) == parts["Signature"]
