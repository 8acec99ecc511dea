"""Judges the simple commands of a text: their words, assignments, functions and inner scripts."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence

from sidelight.core.access import UNKNOWN, Access
from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.call import Call
from sidelight.tools.bash.commands import judge, plain_assignments
from sidelight.tools.bash.conditions import test_command
from sidelight.tools.bash.parse import Node, Unreadable, parse
from sidelight.tools.bash.redirects import Redirects
from sidelight.tools.bash.report import Report
from sidelight.tools.bash.state import State, Value
from sidelight.tools.bash.words import Expander

MOST_COMMANDS = 3_000
DEEPEST_SCRIPT = 4
JUMPS = frozenset({"break", "continue", "return"})
REDIRECTS = frozenset({"herestring_redirect", "file_redirect", "heredoc_redirect"})
BESIDE = REDIRECTS | {"variable_assignment", "comment"}

Flow = tuple[State, State]
Words = Sequence[Word]


class TooLong(Exception):
    """More commands than can be judged."""


class Simple(ABC):
    """The part of the walk below statements; `guard` marks what only deny and ask rules see."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self._guard = False
        self._scripts = 0
        self._left = MOST_COMMANDS
        self._jumps: list[State] = []
        self._stdin: str | None = None

    @abstractmethod
    def run(self, node: Node, state: State) -> Flow:
        """The situations after a statement: when it succeeded, and when it failed."""

    def _one(self, node: Node, state: State) -> State:
        good, bad = self.run(node, state)
        return good.joined(bad)

    def _with_jumps(self, action: Callable[[], State]) -> State:
        outer, self._jumps = self._jumps, []
        state = joined([action(), *self._jumps])
        self._jumps = [*outer, *self._jumps]
        return state

    def _command(self, node: Node, state: State) -> Flow:
        expander = self._expander(state)
        leads = [child for child in node.children if child.type == "variable_assignment"]
        assignments, _ = self._assigned(leads, expander)
        expander.state = state
        inner = Redirects(self.report, expander, node.text)
        for child in node.children:
            if child.type in REDIRECTS:
                inner.add(child)
        if inner.stdin is not None:
            self._stdin = inner.stdin
        plain = [child for child in node.children if child.type not in BESIDE]
        words = expander.words([*plain, *inner.arguments])
        return self._simple(node, words, assignments, expander)

    def _simple(self, node: Node, words: Words, assignments: list[str], found: Expander) -> Flow:
        text = node.text
        if not words:
            self._doubtful(node, found.doubts)
            return found.state, found.state
        call = self._call(words, text, found.state)
        body = found.state.functions.get(words[0].text, call)
        if not isinstance(body, Call):
            return self._called(call, body, found.doubts)
        judge(call, assignments, found.doubts)
        if words[0].text in JUMPS:
            self._jumps.append(found.state)
        return call.after or found.state, call.failed or call.after or found.state

    def _called(self, call: Call, body: Node | None, doubts: list[str]) -> Flow:
        """A call of a function of this text: its body runs in the shell itself."""
        if body is None or self._scripts >= DEEPEST_SCRIPT or doubts:
            self._doubtful_call(call, (*doubts, "what the function does cannot be told")[0])
            return both(call.state.forgotten())
        self._scripts += 1
        after = self._with_jumps(lambda: self._one(body, call.state))
        self._scripts -= 1
        words = tuple(word.text for word in call.words)
        self.report.found.append(
            Access(kind="execute", target=call.text, command=call.text, words=words, guard=True)
        )
        return after, after

    def _call(self, words: Words, text: str, state: State) -> Call:
        self._left -= 1
        if self._left < 0:
            raise TooLong
        call = Call(
            words[0].text, words, text, state, self.report, self._inner, self._script, self._stdin
        )
        call.guard = self._guard
        return call

    def _inner(self, outer: Call, words: Words, guard: bool) -> None:
        """Judge the words that a wrapper runs; what they do to the shell, the wrapper does."""
        if not words:
            outer.doubt("it names no program to run")
            return
        call = self._call(words, outer.text, outer.state)
        call.guard = guard or outer.guard
        call.stdin = outer.stdin
        judge(call, (), ())
        outer.after, outer.failed = call.after, call.failed
        if call.unsure and guard:
            outer.doubt(call.unsure)

    def _script(self, outer: Call, text: str) -> None:
        """Judge a text that a command runs as a script of its own, or in the shell for `eval`."""
        parsed = parse(text)
        if isinstance(parsed, Unreadable) or self._scripts >= DEEPEST_SCRIPT:
            outer.doubt("the script inside cannot be read")
            return
        own = outer.name == "eval"
        state = outer.state if own else State(outer.state.folders, aliases=outer.state.aliases)
        if outer.name == "trap":
            state = outer.after = outer.failed = outer.state.forgotten()
        guard, self._guard = self._guard, True
        stdin, self._stdin = self._stdin, None
        self._scripts += 1
        after = self._one(parsed, state)
        self._scripts -= 1
        self._guard, self._stdin = guard, stdin
        if own:
            outer.after = outer.failed = after.joined(outer.state)

    def _declaration(self, node: Node, state: State) -> Flow:
        expander = self._expander(state)
        words: list[Word] = []
        for child in node.children:
            if child.type == "variable_assignment":
                assignments, _ = self._assigned([child], expander)
                words.extend(Word(text) for text in assignments)
            elif child.named:
                words.extend(expander.word(child))
            else:
                words.append(Word(child.text))
        return self._simple(node, words, [], expander)

    def _assignments(self, node: Node, state: State) -> Flow:
        leads = [node] if node.type == "variable_assignment" else list(node.children)
        expander = self._expander(state)
        assignments, after = self._assigned(leads, expander)
        plain_assignments(self.report, node.text, assignments)
        self._doubtful(node, expander.doubts)
        return after, after

    def _assigned(self, leads: Iterable[Node], expander: Expander) -> tuple[list[str], State]:
        """The assignments as text, and the shell after them if they stand alone."""
        texts: list[str] = []
        after = expander.state
        for lead in leads:
            name, value = lead.one("name"), expander.value(lead.one("value"))
            if name is None or name.type != "variable_name":
                expander.doubts.append("an assignment evaluates the subscript of its variable")
                continue
            appended = any(child.text == "+=" for child in lead.children)
            text = UNKNOWN if value.text is None or appended else value.text
            texts.append(f"{name.text}={text}")
            after = after.with_variable(name.text, Value() if appended else value)
            expander.state = (
                expander.state.with_variable(name.text, Value())
                if appended
                else (expander.state.with_variable(name.text, value))
            )
        return texts, after

    def _test(self, node: Node, state: State) -> Flow:
        expander = self._expander(state)
        call = self._call([Word("[")], node.text, state)
        call.listed = True
        test_command(node, call, expander)
        self.report.found.append(
            Access(
                kind="execute", target=node.text, command=node.text, words=("[", node.text),
                listed=True, read_only=not expander.doubts, guard=self._guard,
                unsure="".join(expander.doubts[:1]), mutates=bool(expander.doubts),
            )
        )  # fmt: skip
        return expander.state, expander.state

    def _expander(self, state: State) -> Expander:
        return Expander(state, self._substituted)

    def _substituted(self, node: Node, state: State) -> None:
        stdin, self._stdin = self._stdin, None
        self.run(node, state)
        self._stdin = stdin

    def _doubtful(self, node: Node, doubts: Sequence[str]) -> None:
        for reason in doubts[:1]:
            self.report.found.append(
                Access(
                    kind="execute", target=node.text, command=node.text, words=("\0",),
                    mutates=True, unsure=reason, guard=self._guard,
                )
            )  # fmt: skip

    def _doubtful_call(self, call: Call, reason: str) -> None:
        self.report.found.append(
            Access(
                kind="execute", target=call.text, command=call.text, mutates=True, unsure=reason,
                words=("\0",), guard=self._guard,
            )
        )  # fmt: skip


def joined(states: Sequence[State]) -> State:
    """What holds in any of several situations."""
    first, *others = states
    for state in others:
        first = first.joined(state)
    return first


def both(state: State) -> Flow:
    """The same situation after success and after failure."""
    return state, state
