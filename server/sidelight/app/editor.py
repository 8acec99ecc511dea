"""Puts the application behind the editor's door; loaded in a thread after `initialize`."""

import os
from functools import partial
from typing import cast, get_args

from sidelight.actions.small import SmallActions
from sidelight.app.models import main_roles, users_own
from sidelight.app.world import Choices, World, build_session, make_world
from sidelight.core.decision import Mode
from sidelight.lsp.application import Editor
from sidelight.lsp.desk import Desk
from sidelight.lsp.door import EditorDoor
from sidelight.lsp.server import AgentServer
from sidelight.model.local.engine import IDLE_S, LocalModel
from sidelight.model.local.weights import QWEN, Store, Weights
from sidelight.permissions.paths import RealDisk
from sidelight.permissions.trust import is_trusted
from sidelight.settings.trusted import trusted_folders

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


def open_door(
    server: AgentServer, weights: Weights = QWEN, *, idle_s: float = IDLE_S
) -> EditorDoor:
    """The door with everything behind it; nothing is started before its `open`.

    `weights` are those of the small model, `idle_s` the seconds after which it is put away.
    """
    wishes = _Wishes()
    world: World = make_world(os.environ, PLACE, wishes.choices)

    def trusted(folder: str) -> bool:
        chosen = wishes.choices().trusted
        known = trusted_folders(world.state_home)
        return is_trusted(folder, known, RealDisk(), str(world.home)) if chosen is None else chosen

    local = LocalModel(Store(weights), world.environ, idle_s=idle_s)
    desk = Desk(
        partial(build_session, world),
        world.link,
        world.state_home,
        wishes.hear,
        lambda: main_roles(world.home, world.environ, wishes.choices().model).main,
        prepare=lambda: server.background(world.link.prepare()),
        local=local,
        actions=SmallActions(local.ask, world.prompts, trusted),
        unsaved=lambda: users_own(world.home, world.environ).sidelight.unsaved_buffers,
    )
    return EditorDoor(server, desk)
