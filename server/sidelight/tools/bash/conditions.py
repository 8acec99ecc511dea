"""The conditions `[ ... ]` and `[[ ... ]]` as the grammar gives them."""

from sidelight.tools.bash.call import Call
from sidelight.tools.bash.parse import Node
from sidelight.tools.bash.special import FILE_TESTS, PAIR_TESTS
from sidelight.tools.bash.words import Expander

COMPARING = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
GROUPS = frozenset(
    {"binary_expression", "unary_expression", "parenthesized_expression", "negated_command"}
)


def test_command(node: Node, call: Call, expander: Expander) -> None:
    """Report the files that a condition looks at; doubt where it evaluates text."""
    evaluates = node.children[0].text == "[["
    for child in node.children[1:-1]:
        _part(child, call, expander, evaluates)


def _part(node: Node, call: Call, expander: Expander, evaluates: bool) -> None:
    if node.type not in GROUPS:
        _operand(node, expander, evaluates)
        return
    operators = [c.text for c in node.children if c.field == "operator" or not c.named]
    operands = [c for c in node.children if c.named and c.field != "operator"]
    if evaluates and COMPARING & set(operators):
        for operand in operands:
            _number(operand, expander)
    if set(operators) & {"-v", "-R"}:
        expander.doubts.append("the test evaluates a variable's name")
    if set(operators) & (FILE_TESTS | PAIR_TESTS):
        for operand in operands:
            if operand.type not in GROUPS:
                for word in expander.word(operand):
                    call.read(word, "names")
    for operand in operands:
        _part(operand, call, expander, evaluates)


def _operand(node: Node, expander: Expander, evaluates: bool) -> None:
    if not node.named:
        return
    if evaluates:
        expander.atoms(node, quoted=True)
        return
    words = expander.word(node)
    if any(word.loose for word in words):
        expander.doubts.append("an unquoted word of the test may turn into several")
    if any(word.text == "-v" for word in words):
        expander.doubts.append("the test evaluates a variable's name")


def _number(node: Node, expander: Expander) -> None:
    if node.type == "string" and len(node.children) == 3:
        node = node.children[1]
    if node.type == "string_content" and node.text.isdigit():
        return
    expander.arithmetic(node)
