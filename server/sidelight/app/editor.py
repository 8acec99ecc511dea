"""Puts the application behind the editor's door; loaded in a thread after `initialize`."""

import os
from functools import partial
from typing import cast, get_args

from sidelight.app.models import main_roles
from sidelight.app.world import Choices, World, build_session, make_world
from sidelight.core.decision import Mode
from sidelight.lsp.application import Editor
from sidelight.lsp.desk import Desk
from sidelight.lsp.door import EditorDoor
from sidelight.lsp.server import AgentServer

PLACE = "inside the user's editor; edits show up there at once"


class _Wishes:
    """What the editor asks for, as its settings are now."""

    def __init__(self) -> None:
        self._editor: Editor | None = None

    def hear(self, editor: Editor) -> None:
        self._editor = editor

    def choices(self) -> Choices:
        options = self._editor.options() if self._editor else {}
        mode = options.get("permissionMode")
        return Choices(
            mode=cast("Mode", mode) if mode in get_args(Mode) else None,
            model=str(options["model"]) if options.get("model") else None,
            trusted=bool(options["trusted"]) if "trusted" in options else None,
            network={name: options[name] for name in ("proxy", "noProxy") if options.get(name)},
        )


def open_door(server: AgentServer) -> EditorDoor:
    """The door with everything behind it; nothing is started before its `open`."""
    wishes = _Wishes()
    world: World = make_world(os.environ, PLACE, wishes.choices)
    desk = Desk(
        partial(build_session, world),
        world.link,
        world.state_home,
        wishes.hear,
        lambda: main_roles(world.home, world.environ, wishes.choices().model).main,
        prepare=lambda: server.background(world.link.prepare()),
    )
    return EditorDoor(server, desk)
