"""What the model and the panel get of a command: its end, or where it goes on."""

from dataclasses import dataclass

from sidelight.background.task import Ending, Task
from sidelight.core.content import Json
from sidelight.core.tool import ToolOutput
from sidelight.process.output import Output
from sidelight.process.question import question_in, starved_in

FAILED_SHOWN = 10_000
NOBODY = (
    "It seems to have asked something that nobody can answer, standard input is empty: {line}\n"
    "Use an option that answers (such as --yes), or pipe the answer in."
)
LEFT_RUNNING = (
    "Processes that the command had left running were ended with it. What is to run on is "
    "started with run_in_background."
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How the run of a command went; `stopped` says at what, if it did not end by itself."""

    stopped: str
    exit_code: int | None
    ending: Ending
    leftovers: bool


def ended_result(
    ended: Ended, output: Output, limit: int, notes: list[str], moved: str | None
) -> ToolOutput:
    """The result of a command that is over; `moved` is the shell's new folder."""
    failed = bool(ended.stopped) or ended.ending.failed
    asked = question_in(output.last_line)
    shown = output.shown(min(FAILED_SHOWN, limit) if failed else limit)
    if failed and not asked:
        asked = starved_in(shown.text[-2_000:])
    if asked:
        notes.append(NOBODY.format(line=asked))
    if ended.leftovers:
        notes.append(LEFT_RUNNING)
    lines = [_headline(ended, failed), shown.text.rstrip("\n")]
    text = "\n".join(line for line in (*lines, *notes) if line)
    data: Json = {
        "stdout": shown.text,
        "stderr": "",
        "interrupted": bool(ended.stopped),
        "exitCode": ended.exit_code,
        "returnCodeInterpretation": ended.ending.remark or None,
        "persistedOutputPath": shown.path,
        "persistedOutputSize": shown.size if shown.path else None,
    }
    return ToolOutput.of(
        text or "(no output)",
        is_error=failed,
        error="timeout" if ended.stopped else None,
        data={key: value for key, value in data.items() if value is not None},
        cwd=moved,
    )


def left_result(task: Task, notes: list[str], moved: str | None, over_time: str) -> ToolOutput:
    """The result of a command that goes on as a task, and how to follow it.

    `over_time` are the seconds after which it was moved, if its time was over.
    """
    so_far = task.output.since(0)
    task.read = task.output.length
    if over_time:
        how = f"The command takes longer than its time limit of {over_time} s and goes on"
    elif task.launch.by_person:
        how = "The user moved the command to the background; it goes on"
    else:
        how = "The command was started"
    text = (
        f"{how} as the background task {task.id}, for {task.launch.life_s:g} s at most. "
        f"TaskOutput waits for it and shows what is new, TaskStop ends it; you will be told when "
        f"it ends. All its output goes to {task.output.file}"
    )
    said = [f"Output so far:\n{so_far.rstrip()}"] if so_far.strip() else []
    data: Json = {
        "stdout": so_far,
        "stderr": "",
        "interrupted": False,
        "backgroundTaskId": task.id,
        "rawOutputPath": str(task.output.file),
    }
    if over_time:
        data["timedOutAfterMs"] = int(float(over_time) * 1000)
    if task.launch.by_person:
        data["backgroundedByUser"] = True
    return ToolOutput.of("\n".join((text, *notes, *said)), data=data, cwd=moved)


def _headline(ended: Ended, failed: bool) -> str:
    remark = ended.ending.remark
    if ended.stopped:
        return (
            f"The command was stopped at {ended.stopped}; it may have done part of its work. "
            "Give a longer timeout, or run a smaller part. Output until then:"
        )
    if ended.exit_code is None:
        return f"The command was {remark}."
    if failed or remark:
        return f"Exit code {ended.exit_code}{f' ({remark})' if remark else ''}"
    return ""
