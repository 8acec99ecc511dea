"""The public corpus of permission decisions: every line that the engine owns, counted by kind."""

import collections
import json
from pathlib import Path

import pytest

from tests.cases.evaluate import LATER, answer, corpus, owner

RATCHET = Path(__file__).with_name("still_wrong.json")
HARMFUL = {"ask", "deny"}


def fault(expected: str, got: str) -> str:
    """The name of a wrong answer, as the corpus scores it."""
    if expected == got:
        return ""
    if got == "allow":
        return "hole"
    if expected == "allow":
        return "annoyance"
    return "too weak" if expected == "deny" else "too strict"


@pytest.mark.req("PERM-05")
@pytest.mark.req("PERM-04")
def test_every_line_of_the_corpus_is_decided_as_expected() -> None:
    table: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    wrong: dict[str, str] = {}
    for case in corpus():
        if owner(case):
            table[case["kind"]]["later"] += 1
            continue
        found = fault(case["expect"], answer(case))
        table[case["kind"]][found or "right"] += 1
        if found:
            wrong[case["id"]] = found
    for kind, counts in sorted(table.items()):
        print(kind, dict(counts))
    known: dict[str, str] = json.loads(RATCHET.read_text(encoding="utf-8"))
    assert set(wrong) == set(known), wrong
    assert "hole" not in wrong.values()


def test_the_lines_left_to_other_parts_are_named() -> None:
    left = collections.Counter((case["kind"], case["tool"]) for case in corpus() if owner(case))
    assert left == {
        ("sandbox", "Bash"): 4,
        ("sandbox", "Sandbox"): 19,
        ("memory", "MemoryImport"): 4,
        ("render", "Render"): 6,
    }
    assert set(LATER) == {"Sandbox", "MemoryImport", "Render"}


def test_no_name_of_a_case_appears_in_the_product() -> None:
    server = Path(__file__).parents[2] / "server"
    text = "\n".join(file.read_text(encoding="utf-8") for file in server.rglob("*.py"))
    named = [case["id"] for case in corpus() if "-" in case["id"] and case["id"] in text]
    assert named == []
