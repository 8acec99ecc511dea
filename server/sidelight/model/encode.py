"""A request of ours as the body of the Messages API, and where its cache marks stand."""

from collections.abc import Iterator

from sidelight.core.content import (
    Block,
    Image,
    Json,
    Opaque,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from sidelight.core.model import ModelRequest, PromptMessage, SystemPrompt, ToolSpec
from sidelight.model.catalog import ModelCard

# An entry of the cache is found within 20 blocks before a mark; a turn of many tool calls adds
# more than that between two requests, so a second mark follows at this distance.
SECOND_MARK_AFTER = 15
MOVING_MARK: Json = {"type": "ephemeral", "ttl": "5m"}
FIXED_MARK: Json = {"type": "ephemeral", "ttl": "1h"}

THINKING_BUDGETS = {"low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 24_576, "max": 31_999}
SMALLEST_BUDGET = 1_024
THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})


def encode(request: ModelRequest, card: ModelCard) -> Json:
    """The body of a streamed request: two requests of one history differ by their end and marks.

    Features go only to models that know them, by `card`. Raw blocks go in as they are; the body
    shares them with the request, so it must not be changed.
    """
    limit = min(request.max_output_tokens or card.default_output, card.output_cap)
    body: Json = {"model": card.id, "max_tokens": limit, "stream": True}
    body |= _prompt(request, card)
    if thinking := _thinking(request, card, body["messages"], limit):
        body["thinking"] = thinking
    if request.effort in card.efforts:
        body["output_config"] = {"effort": request.effort}
    return body


def encode_count(request: ModelRequest, card: ModelCard) -> Json:
    """The body that asks for the number of tokens of the same prompt."""
    return {"model": card.id, **_prompt(request, card)}


def _prompt(request: ModelRequest, card: ModelCard) -> Json:
    messages = [_message(message, card) for message in request.messages]
    # A message of nothing but foreign thinking has nothing left to say.
    messages = [message for message in messages if message["content"]]
    if card.caching:
        _mark_messages(messages)
    prompt: Json = {}
    if system := _system(request.system, card):
        prompt["system"] = system
    if request.tools:
        prompt["tools"] = [_tool(tool) for tool in request.tools]
    prompt["messages"] = messages
    return prompt


def _system(system: SystemPrompt, card: ModelCard) -> list[Json]:
    blocks: list[Json] = [
        {"type": "text", "text": text} for text in (system.stable, system.dynamic) if text.strip()
    ]
    if card.caching:
        for block in blocks:
            block["cache_control"] = FIXED_MARK
    return blocks


def _tool(tool: ToolSpec) -> Json:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    }


def _thinking(
    request: ModelRequest, card: ModelCard, messages: list[Json], limit: int
) -> Json | None:
    if card.thinking == "adaptive":
        # The default would hide it, and leave the person before a silent screen between tools.
        return {"type": "adaptive", "display": "summarized"}
    if card.thinking == "budget" and request.effort is not None:
        budget = min(THINKING_BUDGETS[request.effort], limit - SMALLEST_BUDGET)
        if budget >= SMALLEST_BUDGET and not _amid_calls_without_thinking(messages):
            return {"type": "enabled", "budget_tokens": budget}
    return None


def _amid_calls_without_thinking(messages: list[Json]) -> bool:
    """Whether the turn that goes on began without thinking: such a turn may not begin to think."""
    spoken = [message["content"] for message in messages if message["role"] == "assistant"]
    last: list[Json] = messages[-1]["content"] if messages else []
    results = any(block["type"] == "tool_result" for block in last)
    return results and bool(spoken) and spoken[-1][0]["type"] not in THINKING_TYPES


def _message(message: PromptMessage, card: ModelCard) -> Json:
    encoded = (_block(block, card) for block in message.content)
    return {"role": message.role, "content": [block for block in encoded if block is not None]}


def _block(block: Block, card: ModelCard) -> Json | None:
    """A block as the API writes it; None for thinking that the model of `card` cannot read."""
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Image():
            source = {"type": "base64", "media_type": block.media_type, "data": block.data}
            return {"type": "image", "source": source}
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        case ToolResult():
            return _tool_result(block, card)
        case Thinking() | Opaque():
            readable = card.thinking != "none" and block.model in {"", card.id}
            return block.raw if readable else None


def _tool_result(block: ToolResult, card: ModelCard) -> Json:
    result: Json = {"type": "tool_result", "tool_use_id": block.tool_use_id}
    content = [_block(part, card) for part in block.content]
    if content:
        result["content"] = content
    if block.is_error:
        result["is_error"] = True
    return result


def _mark_messages(messages: list[Json]) -> None:
    """Put a mark on the last block that may carry one, and a second one some blocks before it."""
    marked_at: int | None = None
    for position, (content, index) in enumerate(_blocks_from_the_end(messages)):
        if marked_at is not None and position < marked_at + SECOND_MARK_AFTER:
            continue
        if not _may_be_marked(content[index]):
            continue
        content[index] = {**content[index], "cache_control": MOVING_MARK}
        if marked_at is not None:
            return
        marked_at = position


def _blocks_from_the_end(messages: list[Json]) -> Iterator[tuple[list[Json], int]]:
    for message in reversed(messages):
        content: list[Json] = message["content"]
        for index in reversed(range(len(content))):
            yield content, index


def _may_be_marked(block: Json) -> bool:
    if block["type"] == "text":
        return bool(block["text"].strip())
    return block["type"] in {"image", "tool_use", "tool_result"}
