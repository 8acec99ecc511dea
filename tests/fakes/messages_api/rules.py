"""What the Messages API refuses, one small function a rule.

Each rule takes the request and the double's memory of its own replies, and gives the first problem
it sees. `check_request` runs them all on a bare body, for property tests of a request builder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from tests.fakes.messages_api import rules_history as history
from tests.fakes.messages_api.binding import Memory
from tests.fakes.messages_api.models import Model
from tests.fakes.messages_api.request import Json, Problem, Request, is_array, items, mapping
from tests.fakes.messages_api.shapes import BINDING_BETA, DISPLAY_BETA, TOP_LEVEL
from tests.fakes.messages_api.tokens import IMAGE_TOKENS, count_tokens

API_VERSION = "2026-10-21"
MAX_BODY = 32 * 1024 * 1024
MAX_MESSAGES = 100_000

Rule = Callable[[Request, Memory], Problem | None]

SAMPLING = ("temperature", "top_p", "top_k")
BETA_FIELDS = {
    "context_management": "context-management-2025-06-27",
    "mcp_servers": "mcp-client-2025-11-20",
    "thread": "message-threads-2026-08-12",
    "compaction": "compact-2026-09-04",
    "fallbacks": "server-side-fallback-2026-07-01",
}


# The connection


def credential(request: Request, memory: Memory) -> Problem | None:
    if request.credential == "none":
        return Problem("Authorization header is required", "authentication_error", 401)
    if request.credential == "wrong":
        return Problem("Invalid bearer token", "authentication_error", 401)
    return None


def api_version(request: Request, memory: Memory) -> Problem | None:
    version = request.headers.get("anthropic-version")
    if version is None:
        return Problem("anthropic-version: header is required")
    if version != API_VERSION:
        return Problem(f'anthropic-version: "{version}" is not a valid version')
    return None


def body_size(request: Request, memory: Memory) -> Problem | None:
    if len(request.raw) > MAX_BODY:
        return Problem("Request exceeds the maximum size", "request_too_large", 413)
    return None


def json_body(request: Request, memory: Memory) -> Problem | None:
    if not request.body:
        return Problem("The request body is not valid JSON or is empty")
    return None


def streamed(request: Request, memory: Memory) -> Problem | None:
    if request.body.get("stream") is not True:
        return Problem("stream: this server only answers requests with `stream: true`")
    return None


# The top level


def required_fields(request: Request, memory: Memory) -> Problem | None:
    for name in ("model", "max_tokens", "messages"):
        if name not in request.body:
            return Problem(f"{name}: Field required")
    messages: object = request.body["messages"]
    if not is_array(messages):
        return Problem("messages: Input should be a valid list")
    if not messages:
        return Problem("messages: at least one message is required")
    if len(request.messages) < len(messages):
        return Problem("messages: Input should be a list of objects")
    if len(request.messages) > MAX_MESSAGES:
        return Problem(f"messages: at most {MAX_MESSAGES} messages are allowed")
    return None


def known_fields(request: Request, memory: Memory) -> Problem | None:
    for name in request.body:
        beta = BETA_FIELDS.get(name)
        if name not in TOP_LEVEL and name not in SAMPLING and beta not in request.betas:
            return Problem(f"{name}: Extra inputs are not permitted")
    return None


def known_model(request: Request, memory: Memory) -> Problem | None:
    model = memory.models.get(request.model)
    if model is None or model.lifecycle == "retired":
        return Problem(f"model: {request.model}", "not_found_error", 404)
    return None


def max_tokens(request: Request, memory: Memory) -> Problem | None:
    asked = request.body.get("max_tokens")
    if not isinstance(asked, int) or isinstance(asked, bool):
        return Problem("max_tokens: Input should be a valid integer")
    if asked < 0:
        return Problem("max_tokens: Input should be greater than or equal to 0")
    limit = _model(request, memory).max_output
    if asked > limit:
        return Problem(
            f"max_tokens: {asked} > {limit}, which is the maximum allowed number of output "
            f"tokens for {request.model}"
        )
    return None


def context_window(request: Request, memory: Memory) -> Problem | None:
    model = _model(request, memory)
    window, asked = model.window, int(request.body.get("max_tokens", 0))
    if model.window_stop or (request.raw and _most_tokens(request) + asked < window):
        return None  # a new model answers all the same, see `window_is_full`
    tokens = count_tokens(request.body)
    if tokens > window:
        return Problem(f"prompt is too long: {tokens} tokens > {window} maximum")
    if tokens + asked > window:
        return Problem(
            f"input length and `max_tokens` exceed context limit: {tokens} + {asked} > {window}, "
            "decrease input length or `max_tokens` and try again"
        )
    return None


def window_is_full(request: Request, memory: Memory) -> bool:
    """Whether the prompt alone is beyond the window of a model that then stops by itself."""
    model = memory.models.get(request.model)
    if model is None or not model.window_stop or _most_tokens(request) < model.window:
        return False
    return count_tokens(request.body) > model.window


def _most_tokens(request: Request) -> int:
    """No fewer than the prompt has; spares the walk through nearly every request."""
    return len(request.raw) // 4 + IMAGE_TOKENS * request.raw.count(b'"image"')


def sampling(request: Request, memory: Memory) -> Problem | None:
    for name in SAMPLING:
        if name in request.body:
            return Problem(f"`{name}` is deprecated for this model.")
    return None


def tool_choice(request: Request, memory: Memory) -> Problem | None:
    kind = mapping(request.body.get("tool_choice")).get("type", "auto")
    if kind not in ("auto", "none", "any", "tool"):
        return Problem(f"tool_choice.type: '{kind}' is not one of 'auto', 'any', 'tool', 'none'")
    if kind != "none" and "tool_choice" in request.body and not request.tools:
        return Problem("tool_choice may only be specified while providing tools")
    if kind in ("any", "tool") and not _model(request, memory).forced_tools:
        return Problem(
            f"tool_choice.type: forced tool use ('{kind}') is not supported for this model"
        )
    wanted = mapping(request.body.get("tool_choice")).get("name")
    if kind == "tool" and wanted not in {tool.get("name") for tool in request.tools}:
        return Problem(f"Tool '{wanted}' not found in provided tools")
    return None


def thinking_config(request: Request, memory: Memory) -> Problem | None:
    config = mapping(request.body.get("thinking"))
    kind = config.get("type")
    model = _model(request, memory)
    if not config:
        return None
    if kind not in model.thinking:
        if "between_tools" in model.thinking and kind == "disabled":
            return Problem(
                '"thinking.type.disabled" is not supported for this model. To turn thinking off on '
                'this model, send "thinking": {"type": "between_tools"}.'
            )
        return Problem(
            f'"thinking.type.{kind}" is not supported for this model. Use '
            '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    if kind == "enabled":
        return _thinking_budget(config, request.body.get("max_tokens"))
    return _display(config, request) or _binding(config, request)


def _display(config: Json, request: Request) -> Problem | None:
    display = config.get("display", "omitted")
    known = ("summarized", "omitted", *(("updates",) if DISPLAY_BETA in request.betas else ()))
    if display in known:
        return None
    return Problem(f"thinking.{config['type']}.display: Input should be one of {', '.join(known)}")


def _binding(config: Json, request: Request) -> Problem | None:
    where = f"thinking.{config['type']}.block_binding"
    if "block_binding" not in config:
        return None
    if BINDING_BETA not in request.betas:
        return Problem(f"{where}: Extra inputs are not permitted")
    behavior = mapping(config["block_binding"]).get("prefix_mismatch_behavior", "error")
    if behavior not in ("error", "drop_block"):
        return Problem(f"{where}.prefix_mismatch_behavior: Input should be error or drop_block")
    return None


def _thinking_budget(config: Json, limit: object) -> Problem | None:
    budget = config.get("budget_tokens")
    if not isinstance(budget, int) or budget < 1024:
        where = "thinking.enabled.budget_tokens"
        return Problem(f"{where}: Input should be greater than or equal to 1024")
    if isinstance(limit, int) and budget >= limit:
        return Problem("`max_tokens` must be greater than `thinking.budget_tokens`.")
    return None


def effort(request: Request, memory: Memory) -> Problem | None:
    level = mapping(request.body.get("output_config")).get("effort")
    model = _model(request, memory)
    if level is None:
        return None
    if not model.efforts:
        return Problem("output_config.effort: This model does not support the effort parameter.")
    if level not in model.efforts:
        return Problem(f"output_config.effort: Input should be one of {', '.join(model.efforts)}")
    off = mapping(request.body.get("thinking")).get("type") in ("disabled", "between_tools")
    if off and level not in model.off_efforts:
        return Problem(f"output_config.effort: '{level}' needs thinking, which is turned off")
    return None


# Tools


def tool_names(request: Request, memory: Memory) -> Problem | None:
    limit = _model(request, memory).tool_name_limit
    pattern = "^[a-zA-Z0-9_-]{1," + str(limit) + "}$"
    for number, tool in enumerate(request.tools):
        name = tool.get("name")
        if not isinstance(name, str) or not re.fullmatch(pattern[1:-1], name):
            return Problem(f"tools.{number}.custom.name: String should match pattern '{pattern}'")
    if any(count > 1 for count in Counter(tool["name"] for tool in request.tools).values()):
        return Problem("tools: Tool names must be unique.")
    return None


def tool_schemas(request: Request, memory: Memory) -> Problem | None:
    for number, tool in enumerate(request.tools):
        where = f"tools.{number}.custom"
        if tool.get("type", "custom") != "custom":
            continue
        if "input_schema" not in tool:
            return Problem(f"{where}.input_schema: Field required")
        schema = mapping(tool["input_schema"])
        if schema.get("type") != "object":
            return Problem(f"{where}.input_schema.type: Input should be 'object'")
        if schema.keys() & {"oneOf", "allOf", "anyOf"}:
            return Problem(
                f"{where}.input_schema: input_schema does not support oneOf, allOf, or anyOf at "
                "the top level"
            )
        if tool.get("strict") and (fault := _strict_fault(schema)):
            return Problem(f"{where}: {fault}")
    return None


_UNSUPPORTED = (
    "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
    "multipleOf", "maxItems", "uniqueItems",
)  # fmt: skip
_PATTERN_PARTS = re.compile(r"\(\?[=!<]|\\[1-9bB]")


def _strict_fault(schema: Json) -> str | None:
    kind = schema.get("type")
    for keyword in _UNSUPPORTED:
        if keyword in schema:
            return f"For '{kind}' type, property '{keyword}' is not supported"
    if schema.get("minItems", 0) > 1:
        return f"For '{kind}' type, 'minItems' values other than 0 or 1 are not supported"
    if _PATTERN_PARTS.search(str(schema.get("pattern", ""))):
        return "pattern: lookaround, backreferences and word boundaries are not supported"
    if kind == "object" and schema.get("additionalProperties") is not False:
        return "For 'object' type, 'additionalProperties' must be explicitly set to false"
    nested = [
        *mapping(schema.get("properties")).values(),
        *mapping(schema.get("$defs")).values(),
        *items(schema.get("anyOf")),
        *items(schema.get("allOf")),
        schema.get("items"),
    ]
    return next((fault for each in nested if (fault := _strict_fault(mapping(each)))), None)


CONNECTION_RULES: list[Rule] = [credential, api_version, body_size]
STREAM_RULES: list[Rule] = [*CONNECTION_RULES, json_body, streamed]
COUNT_RULES: list[Rule] = [*CONNECTION_RULES, json_body]
BODY_RULES: list[Rule] = [
    required_fields,
    known_fields,
    known_model,
    max_tokens,
    sampling,
    tool_choice,
    thinking_config,
    effort,
    tool_names,
    tool_schemas,
    history.roles,
    history.marks_on_empty,
    history.empty_content,
    history.empty_text,
    history.block_shapes,
    history.tool_use_shapes,
    history.image_sources,
    history.unique_tool_ids,
    history.results_follow_calls,
    history.results_have_calls,
    history.server_calls_have_results,
    history.prefill,
    history.cache_marks,
    history.thinking_shapes,
    history.thinking_unchanged,
    history.thinking_bound,
    context_window,
]


# The rules after these read what these vouch for.
_VOUCHING = (
    history.roles,
    history.empty_content,
    history.block_shapes,
    history.tool_use_shapes,
)


def first_problem(request: Request, memory: Memory, rules: list[Rule]) -> Problem | None:
    """The problem of the first rule that objects, as the API answers with one at a time."""
    return next((problem for rule in rules if (problem := rule(request, memory))), None)


def check_request(body: Json, memory: Memory | None = None) -> list[str]:
    """The API's objections to a body; empty when it would be accepted.

    Rules after the first few need a well-formed top level, so a broken one gives a single message.
    Without a memory nothing is said on whether thinking is in its place.
    """
    memory = memory or Memory()
    request = Request(body)
    frame, rest = BODY_RULES[:4], BODY_RULES[4:]
    if problem := first_problem(request, memory, frame):
        return [problem.message]
    found: list[str] = []
    for rule in rest:
        if problem := rule(request, memory):
            found.append(problem.message)
            if rule in _VOUCHING:
                break
    return found


def _model(request: Request, memory: Memory) -> Model:
    return memory.models[request.model]
