"""Builds the system prompt once a session; the result is stored and never built again."""

from sidelight.context.environment import Environment
from sidelight.core.model import SystemPrompt
from sidelight.resources.prompts import PromptLibrary


def build_system_prompt(prompts: PromptLibrary, environment: Environment) -> SystemPrompt:
    """The manifest's modules in order: those above the boundary as they stand, the rest filled."""
    manifest = prompts.manifest()
    values = environment.variables()
    return SystemPrompt(
        stable="\n\n".join(prompts.module(name) for name in manifest.stable),
        dynamic="\n\n".join(prompts.module(name, values) for name in manifest.dynamic),
    )
