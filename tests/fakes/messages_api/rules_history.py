"""The rules for history: messages and their blocks, calls and results, cache marks, thinking."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.fakes.messages_api.binding import THINKING, Memory, canonical
from tests.fakes.messages_api.images import document_problem, image_problem
from tests.fakes.messages_api.request import (
    Json,
    Place,
    Problem,
    Request,
    blocks_of,
    dicts,
    is_array,
    items,
    mapping,
    places,
    turns,
)
from tests.fakes.messages_api.shapes import (
    ASSISTANT_BLOCKS,
    BINDING_BETA,
    RESULT_BLOCKS,
    USER_BLOCKS,
    wrong_tag,
)


def roles(request: Request, memory: Memory) -> Problem | None:
    allowed = ("user", "assistant")
    if memory.models[request.model].system_messages:
        allowed = (*allowed, "system")
    for number, message in enumerate(request.messages):
        if message.get("role") not in allowed:
            return Problem(f"messages.{number}.role: Input should be one of {', '.join(allowed)}")
        if extra := sorted(message.keys() - {"role", "content"}):
            return Problem(f"messages.{number}.{extra[0]}: Extra inputs are not permitted")
    if request.messages[0]["role"] != "user":
        return Problem('messages: first message must use the "user" role')
    return None


def empty_content(request: Request, memory: Memory) -> Problem | None:
    for number, message in enumerate(request.messages):
        content: object = message.get("content")
        if not isinstance(content, str) and not is_array(content):
            return Problem(f"messages.{number}.content: Field required")
        if content and len(blocks_of(content)) < len(items(content)):
            return Problem(f"messages.{number}.content: Input should be a list of objects")
        if content:
            continue
        if message["role"] == "user":
            return Problem(f"messages.{number}: user messages must have non-empty content")
        return Problem(
            f"messages.{number}: all messages must have non-empty content except for the optional "
            "final assistant message"
        )
    return None


def empty_text(request: Request, memory: Memory) -> Problem | None:
    system = request.body.get("system")
    if isinstance(system, str) and system and not system.strip():
        return Problem("system: text content blocks must contain non-whitespace text")
    if isinstance(system, list) and not all(block.get("text") for block in request.system):
        return Problem("system: text content blocks must be non-empty")
    for number, message in enumerate(request.messages):
        blocks = blocks_of(message.get("content"))
        texts = [str(block.get("text")) for block in blocks if block.get("type") == "text"]
        inner = [each for block in blocks for each in _results(block)]
        texts_within = [str(each.get("text")) for each in inner if each.get("type") == "text"]
        if "" in (*texts, *texts_within):
            return Problem(f"messages.{number}: text content blocks must be non-empty")
        if blocks and len(texts) == len(blocks) and not any(text.strip() for text in texts):
            return Problem(
                f"messages.{number}: text content blocks must contain non-whitespace text"
            )
    return None


def block_shapes(request: Request, memory: Memory) -> Problem | None:
    for place in places(request.body):
        kind = str(place.block.get("type"))
        shapes = ASSISTANT_BLOCKS if place.role == "assistant" else USER_BLOCKS
        if kind not in shapes:
            own = kind.endswith("_tool_result") or kind in memory.block_types
            if place.role == "assistant" and own:
                continue
            return Problem(wrong_tag(place.path, kind, list(shapes)))
        if extra := sorted(place.block.keys() - shapes[kind]):
            return Problem(f"{place.path}.{kind}.{extra[0]}: Extra inputs are not permitted")
        if kind == "text" and place.role == "user" and place.block.get("citations"):
            return Problem(f"{place.path}.text.citations: not permitted in user messages")
        for index, inner in enumerate(_results(place.block)):
            if inner.get("type") not in RESULT_BLOCKS:
                where = f"{place.path}.tool_result.content.{index}"
                return Problem(wrong_tag(where, str(inner.get("type")), list(RESULT_BLOCKS)))
    return None


def tool_use_shapes(request: Request, memory: Memory) -> Problem | None:
    for place in places(request.body):
        if place.block.get("type") != "tool_use":
            continue
        if not re.fullmatch(r"[a-zA-Z0-9_-]+", str(place.block.get("id", ""))):
            return Problem(
                f"{place.path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
            )
        if not isinstance(place.block.get("input"), dict):
            return Problem(f"{place.path}.tool_use.input: Input should be a valid dictionary")
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,200}", str(place.block.get("name", ""))):
            return Problem(
                f"{place.path}.tool_use.name: String should match pattern "
                "'^[a-zA-Z0-9_-]{1,200}$'"
            )
    return None


def image_sources(request: Request, memory: Memory) -> Problem | None:
    for path, block in _with_results(request.body):
        if block.get("type") == "image" and (problem := image_problem(path, block)):
            return problem
        if block.get("type") == "document" and (problem := document_problem(path, block)):
            return problem
    return None


# Tool calls and their results


def unique_tool_ids(request: Request, memory: Memory) -> Problem | None:
    seen: set[str] = set()
    for place in places(request.body):
        if place.block.get("type") == "tool_use":
            if place.block["id"] in seen:
                return Problem(f"{place.path}: `tool_use` ids must be unique")
            seen.add(place.block["id"])
    return None


def results_follow_calls(request: Request, memory: Memory) -> Problem | None:
    grouped = turns(request.body)
    for number, (role, turn) in enumerate(grouped):
        calls = [
            p.block["id"] for p in turn if role == "assistant" and p.block["type"] == "tool_use"
        ]
        if not calls:
            continue
        answered = (
            _leading_results(grouped[number + 1]) if number + 1 < len(grouped) else set[str]()
        )
        if missing := [call for call in calls if call not in answered]:
            return Problem(
                f"messages.{turn[-1].message}: `tool_use` ids were found without `tool_result` "
                f"blocks immediately after: {', '.join(missing)}. Each `tool_use` block must have "
                "a corresponding `tool_result` block in the next message."
            )
    return None


def results_have_calls(request: Request, memory: Memory) -> Problem | None:
    calls: set[str] = set()
    for role, turn in turns(request.body):
        seen: set[str] = set()
        for place in turn:
            if place.block.get("type") != "tool_result":
                continue
            call = str(place.block.get("tool_use_id"))
            if call not in calls:
                return Problem(
                    f"{place.path}: unexpected `tool_use_id` found in `tool_result` blocks: "
                    f"{call}. Each `tool_result` block must have a corresponding `tool_use` "
                    "block in the previous message."
                )
            if call in seen:
                return Problem(
                    f"{place.path}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {call}"
                )
            seen.add(call)
        uses = [place.block for place in turn if place.block.get("type") == "tool_use"]
        calls = {str(block["id"]) for block in uses} if role == "assistant" else set()
    return None


def server_calls_have_results(request: Request, memory: Memory) -> Problem | None:
    """A paused turn goes back as it is: what stands behind it leaves its call without a result."""
    grouped = turns(request.body)
    for number, (role, turn) in enumerate(grouped):
        if role != "assistant" or number == len(grouped) - 1:
            continue
        answered = {place.block.get("tool_use_id") for place in turn}
        for place in turn:
            if place.block["type"] == "server_tool_use" and place.block["id"] not in answered:
                name = place.block.get("name")
                return Problem(
                    f"{place.path}: `{name}` tool use with id `{place.block['id']}` was found "
                    f"without a corresponding `{name}_tool_result` block"
                )
    return None


def prefill(request: Request, memory: Memory) -> Problem | None:
    role, turn = turns(request.body)[-1]
    if role != "assistant":
        return None
    last = turn[-1].block
    if canonical(last) in memory.paused or last["type"] in ("server_tool_use",):
        return None
    if not memory.models[request.model].prefill:
        return Problem(
            "This model does not support assistant message prefill. The conversation must end "
            "with a user message."
        )
    text = str(last.get("text", "x"))
    if text != text.rstrip():
        return Problem("messages: final assistant content cannot end with trailing whitespace")
    return None


# Cache marks


def cache_marks(request: Request, memory: Memory) -> Problem | None:
    marks = list(_marks(request.body))
    if len(marks) > 4:
        return Problem(
            f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
        )
    short_seen = False
    for path, mark in marks:
        ttl = mark.get("ttl", "5m")
        if mark.get("type") != "ephemeral" or ttl not in ("5m", "1h"):
            return Problem(f"{path}.cache_control: Input should be ephemeral with ttl 5m or 1h")
        if extra := sorted(mark.keys() - {"type", "ttl"}):
            return Problem(
                f"{path}.cache_control.ephemeral.{extra[0]}: Extra inputs are not permitted"
            )
        if ttl == "1h" and short_seen:
            return Problem(
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )
        short_seen = short_seen or ttl == "5m"
    return None


def marks_on_empty(request: Request, memory: Memory) -> Problem | None:
    for path, block in _with_results(request.body):
        if block.get("cache_control") and block.get("type") == "text" and not block.get("text"):
            return Problem(f"{path}: cache_control cannot be set for empty text blocks")
    return None


# Thinking that comes back


def thinking_shapes(request: Request, memory: Memory) -> Problem | None:
    for place in places(request.body):
        kind = place.block.get("type")
        needed = {"thinking": ("thinking", "signature"), "redacted_thinking": ("data",)}
        for name in needed.get(str(kind), ()):
            if not isinstance(place.block.get(name), str):
                return Problem(f"{place.path}.{kind}.{name}: Field required")
        if kind == "thinking" and not place.block["signature"]:
            return Problem(f"{place.path}: Invalid `signature` in `thinking` block")
    return None


def thinking_unchanged(request: Request, memory: Memory) -> Problem | None:
    if not memory.thinking and memory.strangers:
        return None
    for place, finding in memory.survey(request.body):
        if finding == "unknown":
            kind = place.block["type"]
            return Problem(f"{place.path}: Invalid `signature` in `{kind}` block")
        if finding == "altered":
            return Problem(
                f"{place.path}: `thinking` or `redacted_thinking` blocks in the latest assistant "
                "message cannot be modified. These blocks must remain as they were in the original "
                "response."
            )
    return None


def thinking_bound(request: Request, memory: Memory) -> Problem | None:
    binding = mapping(mapping(request.body.get("thinking")).get("block_binding"))
    drops = binding.get("prefix_mismatch_behavior") == "drop_block"
    if not memory.models[request.model].preserved or drops or not memory.thinking:
        return None
    for place, finding in memory.survey(request.body):
        if finding == "moved":
            hint = ""
            if BINDING_BETA not in request.betas:
                hint = f" That setting requires `{BINDING_BETA}` in the `anthropic-beta` header."
            return Problem(
                f"{place.path}: Invalid `signature` in `{place.block['type']}` block. The block is "
                "bound to a different conversation. Remove the block, or set "
                f'`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".{hint}'
            )
    return None


def _results(block: Json) -> list[Json]:
    return dicts(block.get("content")) if block.get("type") == "tool_result" else []


def _with_results(body: Json) -> Iterator[tuple[str, Json]]:
    for place in places(body):
        yield place.path, place.block
        for index, inner in enumerate(_results(place.block)):
            yield f"{place.path}.content.{index}", inner


def _leading_results(turn: tuple[str, list[Place]]) -> set[str]:
    role, blocks = turn
    found: set[str] = set()
    for place in blocks:
        if role != "user" or place.block.get("type") != "tool_result":
            break
        found.add(str(place.block.get("tool_use_id")))
    return found


def _marks(body: Json) -> Iterator[tuple[str, Json]]:
    for part in ("tools", "system"):
        for number, block in enumerate(items(body.get(part)) if part in body else []):
            if mark := mapping(block).get("cache_control"):
                yield f"{part}.{number}", mark
    for path, block in _with_results(body):
        if block.get("cache_control") and block.get("type") not in THINKING:
            yield path, block["cache_control"]
    if body.get("cache_control"):
        yield "cache_control", body["cache_control"]
