"""A session's permissions as they stand, and where decisions for later are kept."""

import logging
from collections.abc import Awaitable, Callable, Sequence

from sidelight.core.decision import Mode, PermissionUpdate
from sidelight.core.errors import AgentError
from sidelight.core.tool import Shell
from sidelight.permissions.policy import Policy

log = logging.getLogger(__name__)

Save = Callable[[PermissionUpdate], Awaitable[None]]


class SessionRules:
    """Holds the policy; replaced whole at each change. `save` writes to the settings files."""

    def __init__(
        self, policy: Policy, shell: Shell, save: Save, problem: Callable[[str], Awaitable[None]]
    ) -> None:
        self._policy = policy
        self._shell = shell
        self._save = save
        self._problem = problem

    @property
    def policy(self) -> Policy:
        """The policy to judge the next call by, seen from where the shell stands."""
        return self._policy.with_cwd(self._shell.cwd)

    def set_policy(self, policy: Policy) -> None:
        """Take a policy made from re-read settings; what the person chose in the session stays."""
        self._policy = policy.after(self._policy)

    def set_mode(self, mode: Mode) -> None:
        """Change the permission mode."""
        self._policy = self._policy.with_update(PermissionUpdate(action="set_mode", mode=mode))

    async def remember(self, updates: Sequence[PermissionUpdate]) -> None:
        """Apply at once; write down what outlives the session. Never raises: failures are told."""
        for update in updates:
            self._policy = self._policy.with_update(update)
            if update.scope == "session" or update.action == "set_mode":
                continue
            try:
                await self._save(update)
            except (OSError, AgentError) as error:
                log.warning("rule not saved: %s", error)
                await self._problem(f"The rule holds for this session but was not saved: {error}")
