"""Walks a parsed command as the shell would, keeping every situation it may be in."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from sidelight.tools.bash.atoms import Word
from sidelight.tools.bash.lists import Pipe, arguments_behind, flat, pipes_of
from sidelight.tools.bash.parse import Node
from sidelight.tools.bash.redirects import Redirects
from sidelight.tools.bash.report import Report
from sidelight.tools.bash.simple import Flow, Simple, both, joined
from sidelight.tools.bash.state import State, Value
from sidelight.tools.bash.variables import dangerous

MOST_ITEMS = 40
SETTLING = 4
INERT = frozenset({"comment", "heredoc_body", "heredoc_start", "heredoc_end", "word"})


class Walker(Simple):
    """The statements: lists, loops, branches, groups, functions."""

    def __init__(self, report: Report) -> None:
        super().__init__(report)
        self._handlers: dict[str, Callable[[Node, State], Flow]] = {
            "program": self._sequence,
            "compound_statement": self._compound,
            "do_group": self._sequence,
            "else_clause": self._sequence,
            "subshell": self._subshell,
            "command_substitution": self._subshell,
            "process_substitution": self._subshell,
            "pipeline": self._chain,
            "list": self._chain,
            "negated_command": self._chain,
            "redirected_statement": self._redirected,
            "command": self._command,
            "declaration_command": self._declaration,
            "unset_command": self._declaration,
            "test_command": self._test,
            "variable_assignment": self._assignments,
            "variable_assignments": self._assignments,
            "if_statement": self._if,
            "for_statement": self._for,
            "c_style_for_statement": self._counting,
            "while_statement": self._while,
            "case_statement": self._case,
            "function_definition": self._function,
            "file_redirect": self._bare_redirect,
        }

    def run(self, node: Node, state: State) -> Flow:
        """The situations after a statement: when it succeeded, and when it failed."""
        handler = self._handlers.get(node.type)
        if handler is None:
            if node.type not in INERT:
                self._doubtful(node, ["this part of the command is not understood"])
            return state, state
        return handler(node, state)

    def _sequence(self, node: Node, state: State) -> Flow:
        return self._all(node.children, state)

    def _all(self, nodes: Sequence[Node], state: State) -> Flow:
        flow = (state, state)
        statements = [n for n in nodes if n.named or n.text == "&"]
        for index, child in enumerate(statements):
            if child.text == "&" and not child.named:
                continue
            after = self.run(child, flow[0].joined(flow[1]))
            behind = statements[index + 1 : index + 2]
            in_background = bool(behind) and behind[0].text == "&" and not behind[0].named
            flow = both(_either(flow)) if in_background else after
        return flow

    def _compound(self, node: Node, state: State) -> Flow:
        if node.children[:1] and node.children[0].text == "((":
            expander = self._expander(state)
            for child in node.children:
                if child.named:
                    expander.arithmetic(child)
            self._doubtful(node, expander.doubts)
            return expander.state, expander.state
        return self._sequence(node, state)

    def _subshell(self, node: Node, state: State) -> Flow:
        stdin, self._stdin = self._stdin, None
        self._sequence(node, state)
        self._stdin = stdin
        return state, state

    def _chain(self, node: Node, state: State) -> Flow:
        pipes = pipes_of(node)
        if pipes is None:
            self._doubtful(node, ["this part of the command is not understood"])
            return both(state.forgotten())
        good, bad = self._pipe(pipes[0], state)
        for pipe in pipes[1:]:
            if pipe.operator == "&&":
                after_good, after_bad = self._pipe(pipe, good)
                good, bad = after_good, bad.joined(after_bad)
            else:
                after_good, after_bad = self._pipe(pipe, bad)
                good, bad = good.joined(after_good), after_bad
        return good, bad

    def _pipe(self, pipe: Pipe, state: State) -> Flow:
        """A command in the shell itself, or several, each in a shell of its own."""
        if len(pipe.parts) == 1:
            good, bad = self.run(pipe.parts[0], state)
            return (bad, good) if pipe.negated else (good, bad)
        stdin = self._stdin
        for part in pipe.parts:
            self.run(part, state)
            self._stdin = None
        self._stdin = stdin
        return state, state

    def _redirected(self, node: Node, state: State) -> Flow:
        tokens = flat(node)
        if len(tokens) > 1 or not isinstance(tokens[0], Node):
            return self._chain(node, state)
        node, body = tokens[0], tokens[0].one("body")
        redirects = Redirects(self.report, self._expander(state), node.text)
        for redirect in node.all("redirect"):
            redirects.add(redirect)
        self._doubtful(node, redirects.doubts)
        outer, self._stdin = self._stdin, redirects.stdin
        behind = (*redirects.arguments, *arguments_behind(node.all("redirect")))
        flow = (state, state)
        if body is None and behind:
            flow = self.run(replace(node, type="command", children=behind), state)
        elif body is not None and behind and body.type != "command":
            self._doubtful(node, ["this part of the command is not understood"])
        elif body is not None:
            flow = self.run(replace(body, children=(*body.children, *behind)), state)
            if redirects.can_fail:
                flow = (flow[0], flow[1].joined(state))
        self._stdin = outer
        return flow

    def _bare_redirect(self, node: Node, state: State) -> Flow:
        redirects = Redirects(self.report, self._expander(state), node.text)
        redirects.add(node)
        self._doubtful(node, redirects.doubts)
        return state, state

    def _if(self, node: Node, state: State) -> Flow:
        ends: list[State] = []
        good, bad = self._all(node.all("condition"), state)
        rest = [n for n in node.children if n.named and n.field != "condition"]
        body = [n for n in rest if n.type not in {"elif_clause", "else_clause"}]
        ends.append(_either(self._all(body, good)))
        for clause in rest:
            if clause.type == "elif_clause":
                good, bad = self._clause(clause, bad, ends)
            elif clause.type == "else_clause":
                bad = _either(self._sequence(clause, bad))
        return both(joined([*ends, bad]))

    def _clause(self, node: Node, state: State, ends: list[State]) -> Flow:
        """An `elif`: the statements before `then` are its condition."""
        then = next((i for i, c in enumerate(node.children) if c.text == "then"), 0)
        good, bad = self._all(node.children[:then], state)
        ends.append(_either(self._all(node.children[then:], good)))
        return good, bad

    def _for(self, node: Node, state: State) -> Flow:
        variable, body = node.one("variable"), node.one("body")
        if variable is None or body is None or dangerous(variable.text):
            self._doubtful(node, ["the loop's variable is not an ordinary one"])
            return both(state.forgotten())
        expander = self._expander(state)
        items = expander.words(node.all("value"))
        self._doubtful(node, expander.doubts)
        values = [_item(word) for word in items]
        if not node.all("value") or len(items) > MOST_ITEMS or node.children[0].text == "select":
            values = [Value()]

        def all_items(start: State) -> State:
            for value in dict.fromkeys(values):
                start = start.joined(self._one(body, start.with_variable(variable.text, value)))
            return start

        return both(self._loop(all_items, expander.state))

    def _counting(self, node: Node, state: State) -> Flow:
        expander = self._expander(state)
        for field in ("initializer", "condition", "update"):
            for child in node.all(field):
                if child.named:
                    expander.arithmetic(child)
        self._doubtful(node, expander.doubts)
        body = node.one("body")
        if body is None:
            return expander.state, expander.state
        return both(self._loop(lambda start: self._one(body, start), expander.state))

    def _while(self, node: Node, state: State) -> Flow:
        def once(start: State) -> State:
            good, bad = self._all(node.all("condition"), start)
            body = node.one("body")
            inside = good if node.children[0].text == "while" else bad
            return good.joined(bad).joined(self._one(body, inside) if body else inside)

        return both(self._loop(once, state))

    def _loop(self, once: Callable[[State], State], state: State) -> State:
        """Run a loop's body until nothing new is learnt, then once for the record."""
        for _ in range(SETTLING):
            kept = len(self.report.found)
            after = state.joined(self._with_jumps(lambda now=state: once(now)))
            if after == state:
                return state
            del self.report.found[kept:]
            state = after
        return self._with_jumps(lambda: once(state.forgotten()))

    def _case(self, node: Node, state: State) -> Flow:
        expander = self._expander(state)
        for value in node.all("value"):
            expander.atoms(value, quoted=True)
        ends = [expander.state]
        for item in node.children:
            if item.type != "case_item":
                continue
            for value in item.all("value"):
                expander.atoms(value, quoted=True)
            body = [c for c in item.children if c.named and c.field != "value"]
            ends.append(_either(self._all(body, joined(ends))))
        self._doubtful(node, expander.doubts)
        return both(joined(ends))

    def _function(self, node: Node, state: State) -> Flow:
        name, body = node.one("name"), node.one("body")
        if name is None or body is None:
            self._doubtful(node, ["this part of the command is not understood"])
            return state, state
        redirects = Redirects(self.report, self._expander(state.forgotten()), node.text)
        for redirect in node.all("redirect"):
            redirects.add(redirect)
        self._doubtful(node, redirects.doubts)
        unknown = state.forgotten()
        self._with_jumps(lambda: self._one(body, unknown.with_folders(state.folders)))
        after = state.with_function(name.text, body)
        return after, after


def _item(word: Word) -> Value:
    """A loop's value: patterns and home folders are left open."""
    if word.pattern and word.known and not word.home:
        return Value(pattern=word.pattern)
    if not word.known or word.loose or word.home:
        return Value()
    return Value(word.text, word.text.isdigit())


def _either(flow: Flow) -> State:
    return flow[0].joined(flow[1])
