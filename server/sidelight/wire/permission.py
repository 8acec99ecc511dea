"""A permission question and its answer as they go over the wire."""

from collections.abc import Sequence
from dataclasses import dataclass

from sidelight.core.access import UNKNOWN, Access
from sidelight.core.content import as_list
from sidelight.core.decision import PermissionUpdate, Scope
from sidelight.core.host import PermissionPrompt, PermissionReply, UserQuestion
from sidelight.permissions.storable import tool_of, unfit
from sidelight.wire.catalogue import say
from sidelight.wire.loose import mapping
from sidelight.wire.methods import (
    FileDiff,
    PermissionAnswer,
    PermissionDetail,
    PermissionOption,
    RequestPermission,
)
from sidelight.wire.tool_words import kind_of, locations_of
from sidelight.wire.visible import hidden_characters, visible

MOST_EFFECTS = 12
ALLOW_ONCE, REJECT_ONCE = "allow_once", "reject_once"
SCOPES: tuple[tuple[Scope, str, str], ...] = (
    ("session", "allow_session", "Allow for this session"),
    ("local", "allow_project", "Allow in this project"),
    ("user", "allow_always", "Always allow"),
)
VERBS = {
    "read": "reads",
    "write": "writes",
    "execute": "runs",
    "fetch": "contacts",
    "mcp": "calls",
    "interact": "asks",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """One answer: how it is shown, and what is remembered when it is picked."""

    option: PermissionOption
    remember: tuple[PermissionUpdate, ...] = ()

    @property
    def allows(self) -> bool:
        """Whether picking it lets the call run."""
        return self.option.kind.startswith("allow")

    def reply(self, **fields: object) -> PermissionReply:
        """The answer for the agent."""
        behavior = "allow" if self.allows else "deny"
        known = {"behavior": behavior, "remember": self.remember, **fields}
        return PermissionReply.model_validate(known)


def choices_for(prompt: PermissionPrompt, locale: str) -> tuple[Choice, ...]:
    """Once, then for longer, then no. A rule may be kept in any scope, a mode for the session."""
    allow = PermissionOption(option_id=ALLOW_ONCE, name=say(locale, "Allow once"), kind=ALLOW_ONCE)
    choices = [Choice(allow)]
    rules = tuple(one for one in prompt.suggestions if one.action == "add")
    modes = tuple(one for one in prompt.suggestions if one.action == "set_mode")
    for scope, name, words in SCOPES:
        updates = tuple(rule.model_copy(update={"scope": scope}) for rule in rules)
        if scope == "session" and modes:
            updates = modes
        if updates:
            option = PermissionOption(option_id=name, name=say(locale, words), kind="allow_always")
            choices.append(Choice(option, updates))
    deny = PermissionOption(option_id=REJECT_ONCE, name=say(locale, "Deny"), kind=REJECT_ONCE)
    return (*choices, Choice(deny))


def request_for(
    session_id: str,
    prompt: PermissionPrompt,
    choices: Sequence[Choice],
    diffs: Sequence[FileDiff],
    locale: str,
) -> RequestPermission:
    """The question as our own panel and any client of the protocol reads it."""
    tool_call = {
        "toolCallId": prompt.call.id,
        "title": visible(prompt.title),
        "kind": kind_of(prompt.call.name),
        "status": "pending",
        "rawInput": prompt.call.input,
        "locations": locations_of(prompt.call),
    }
    return RequestPermission(
        session_id=session_id,
        tool_call=tool_call,
        options=tuple(choice.option for choice in choices),
        _meta={"sidelight": detail_of(prompt, diffs, locale).to_wire()},
    )


def request_to_choose(session_id: str, question: UserQuestion, locale: str) -> RequestPermission:
    """A question with answers of its own, in the shape that every client of the protocol shows."""
    title = say(locale, question.title, **question.fields)
    last = len(question.options) - 1
    options = tuple(
        PermissionOption(
            option_id=option.id,
            name=say(locale, option.label, **question.fields),
            kind=REJECT_ONCE if number == last else ALLOW_ONCE,
        )
        for number, option in enumerate(question.options)
    )
    detail = PermissionDetail(
        id=question.id,
        kind="other",
        tool="",
        title=title,
        why=say(locale, question.detail, **question.fields),
    )
    return RequestPermission(
        session_id=session_id,
        tool_call={
            "toolCallId": question.id,
            "title": title,
            "kind": "other",
            "status": "pending",
            "rawInput": {},
            "locations": [],
        },
        options=options,
        _meta={"sidelight": detail.to_wire()},
    )


def chosen_id(answer: PermissionAnswer, question: UserQuestion) -> str | None:
    """The option that was picked; None for anything else."""
    picked = answer.outcome.option_id if answer.outcome.outcome == "selected" else None
    return picked if picked in {option.id for option in question.options} else None


def detail_of(prompt: PermissionPrompt, diffs: Sequence[FileDiff], locale: str) -> PermissionDetail:
    """Everything that a person should see before deciding."""
    command = _text(prompt.call.input.get("command"))
    rules = [rule for update in prompt.suggestions for rule in update.rules]
    cause = prompt.reason.cause
    return PermissionDetail(
        id=prompt.id,
        kind="edit" if diffs else "command" if command is not None else "other",
        tool=prompt.call.name,
        title=visible(prompt.title),
        why=visible(prompt.reason.detail),
        dangerous=prompt.dangerous,
        command=command,
        cause=cause if command is not None and cause not in {"", command.strip()} else None,
        description=_text(prompt.call.input.get("description")),
        effects=_effects(prompt.accesses, command, locale),
        diffs=tuple(diffs),
        rules=tuple(dict.fromkeys(rules)),
        rules_editable=bool(rules),
    )


def reply_to(
    answer: PermissionAnswer, choices: Sequence[Choice]
) -> tuple[PermissionReply, tuple[str, ...]]:
    """What the person chose; anything but a known answer is a no.

    Beside it, why rules that the person typed are not kept: then nothing of them is.
    """
    outcome = answer.outcome
    chosen = next((one for one in choices if one.option.option_id == outcome.option_id), None)
    if outcome.outcome != "selected" or chosen is None:
        return PermissionReply(behavior="deny"), ()
    ours = mapping(mapping(outcome.meta).get("sidelight"))
    fields: dict[str, object] = {"feedback": _text(ours.get("feedback")) or ""}
    if chosen.allows and isinstance(ours.get("updatedInput"), dict):
        fields["updated_input"] = ours["updatedInput"]
    if not chosen.remember or "rules" not in ours:
        return chosen.reply(**fields), ()
    remember, problems = _edited(chosen.remember, ours["rules"])
    return chosen.reply(**fields, remember=remember), problems


def _edited(
    offered: tuple[PermissionUpdate, ...], typed: object
) -> tuple[tuple[PermissionUpdate, ...], tuple[str, ...]]:
    """The offered changes with the rules that came back, if each of them may be kept."""
    known = [rule for update in offered for rule in update.rules]
    texts = [text.strip() for text in as_list(typed) if isinstance(text, str) and text.strip()]
    if texts == known:
        return offered, ()
    if not known or not texts or len(texts) != len(as_list(typed)) or len(texts) > len(known):
        return (), ("The rules of the answer are not those of the question; none was kept.",)
    tools = {tool_of(rule) for rule in known}
    problems: list[str] = []
    for text in texts:
        reason = unfit(text) if text not in known else ""
        if not reason and tool_of(text) not in tools:
            reason = f"The question was about {', '.join(sorted(filter(None, tools)))}."
        if reason:
            problems.append(f"The rule {text} was not kept: {reason} The call was allowed once.")
    if problems:
        return (), tuple(problems)
    (first, *_) = offered
    return (first.model_copy(update={"rules": tuple(dict.fromkeys(texts))}),), ()


def plain_question(prompt: PermissionPrompt, diffs: Sequence[FileDiff], locale: str) -> str:
    """The question as one text, for editors that show only messages."""
    detail = detail_of(prompt, diffs, locale)
    parts = [detail.title if detail.command is None else f"{prompt.call.name}:"]
    if detail.command is not None:
        parts.append(visible(detail.command))
    if detail.why:
        parts.append(say(locale, "Why: {why}", why=detail.why))
    parts += [visible(effect) for effect in detail.effects]
    for diff in diffs:
        parts.append(f"{visible(diff.path)} +{diff.added} -{diff.removed}")
        parts += [visible(f"{line.sign}{line.text}") for line in diff.lines]
    return "\n".join(parts)


def _effects(accesses: Sequence[Access], command: str | None, locale: str) -> tuple[str, ...]:
    effects: list[str] = []
    hidden = hidden_characters(command or "")
    if hidden:
        effects.append(say(locale, "hidden characters: {names}", names=", ".join(hidden)))
    for access in accesses:
        if access.unsure:
            effects.append(visible(access.unsure))
        if access.kind != "execute":
            effects.append(
                f"{say(locale, VERBS[access.kind])}: {visible(access.target.replace(UNKNOWN, '…'))}"
            )
    unique = list(dict.fromkeys(effects))
    if len(unique) > MOST_EFFECTS:
        left = len(unique) - MOST_EFFECTS
        unique[MOST_EFFECTS:] = [say(locale, "and {count} more", count=left)]
    return tuple(unique)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
