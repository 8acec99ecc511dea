"""Actions on a selection or a problem. They are names only: no model and no file is touched."""

from typing import Any

from lsprotocol import types

from sidelight.lsp.server import AgentServer
from sidelight.wire.capabilities import RENAME_IN_WORDS
from sidelight.wire.catalogue import say
from sidelight.wire.loose import mapping

MOST_PROBLEMS = 5
LONGEST_MESSAGE = 80

Action = types.Command | types.CodeAction


def register(server: AgentServer) -> None:
    """Handlers of `textDocument/codeAction` and `codeAction/resolve`."""
    options = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite],
        resolve_provider=True,
    )

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)
    async def code_actions(params: types.CodeActionParams) -> list[Action]:
        offered = [*_on_problems(server, params), *_on_selection(server, params)]
        if server.door is not None and server.door.busy():
            offered.append(_action(server, "sidelight.stop", "Sidelight: stop the agent", None))
        wanted = params.context.only
        if wanted:
            offered = [one for one in offered if _is_wanted(one, wanted)]
        return [_for_client(server, one) for one in offered]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def resolve(action: types.CodeAction) -> types.CodeAction:
        action.command = _command(action)
        return action


def _on_problems(server: AgentServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    actions: list[types.CodeAction] = []
    if _only_small(server):
        return actions  # why something is wrong is more than it can tell
    for problem in params.context.diagnostics[:MOST_PROBLEMS]:
        message = " ".join(problem.message.split())
        if len(message) > LONGEST_MESSAGE:
            message = message[: LONGEST_MESSAGE - 1] + "…"
        for name, title, kind in (
            ("sidelight.fix", "Sidelight: fix: {message}", types.CodeActionKind.QuickFix),
            ("sidelight.explain", "Sidelight: explain: {message}", None),
            ("sidelight.addToChat", "Sidelight: add to the chat: {message}", None),
        ):
            target = _target(params.text_document.uri, problem.range, problem.message)
            action = _action(server, name, title, kind, target, message=message)
            action.diagnostics = [problem]
            actions.append(action)
    return actions


def _on_selection(server: AgentServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    if params.range.start == params.range.end:
        return []
    target = _target(params.text_document.uri, params.range, None)
    rewrite = types.CodeActionKind.RefactorRewrite
    small = _only_small(server)
    rename = RENAME_IN_WORDS if server.client.ours else "sidelight.rename"
    wanted: list[tuple[str, str, types.CodeActionKind | None]] = [
        ("sidelight.explain", "Sidelight: explain the selection", None)
    ]
    if not small:
        wanted.append(("sidelight.fix", "Sidelight: fix the selection", rewrite))
        wanted.append(("sidelight.addToChat", "Sidelight: add the selection to the chat", None))
    if params.text_document.uri.endswith((".py", ".pyi")):
        wanted.append(("sidelight.document", "Sidelight: write a docstring", rewrite))
        wanted.append((rename, "Sidelight: rename", rewrite))
    actions = [_action(server, name, title, kind, target) for name, title, kind in wanted]
    if small:
        for action in actions:
            action.title = say(server.locale, "{title} (small local model)", title=action.title)
    return actions


def _only_small(server: AgentServer) -> bool:
    return server.door is not None and server.door.only_small()


def _action(
    server: AgentServer,
    name: str,
    title: str,
    kind: types.CodeActionKind | None,
    target: dict[str, Any] | None = None,
    **fields: str,
) -> types.CodeAction:
    data = {"command": name, "target": target}
    return types.CodeAction(title=say(server.locale, title, **fields), kind=kind, data=data)


def _target(uri: str, range: types.Range, problem: str | None) -> dict[str, Any]:
    return {
        "uri": uri,
        "range": {
            "start": {"line": range.start.line, "character": range.start.character},
            "end": {"line": range.end.line, "character": range.end.character},
        },
        "problem": problem,
    }


def _command(action: types.CodeAction) -> types.Command | None:
    data = mapping(action.data)
    if "command" not in data:
        return action.command
    target = data.get("target")
    return types.Command(
        title=action.title,
        command=str(data["command"]),
        arguments=[] if target is None else [target],
    )


def _for_client(server: AgentServer, action: types.CodeAction) -> Action:
    """Lazy where the client can resolve; whole where it cannot; a command for the oldest."""
    document = server.client_capabilities.text_document
    known = document.code_action if document else None
    if known is None or known.code_action_literal_support is None:
        return _command(action) or types.Command(title=action.title, command="")
    lazy = known.data_support and known.resolve_support
    if not lazy or "command" not in lazy.properties:
        action.command, action.data = _command(action), None
    return action


def _is_wanted(action: types.CodeAction, wanted: Any) -> bool:
    kind = str(getattr(action.kind, "value", action.kind) or "")
    for one in wanted:
        prefix = str(getattr(one, "value", one))
        if prefix in {kind, ""} or kind.startswith(prefix + "."):
            return True
    return False
