"""The shell tools of a session, by platform and settings."""

import shutil
import sys
from collections.abc import Mapping, Sequence

from sidelight.background.tasks import Background
from sidelight.core.messages import Attachment
from sidelight.core.tool import AnyTool
from sidelight.session.arrivals import TASK
from sidelight.tools.bash.tool import Bash
from sidelight.tools.monitor import MonitorTool
from sidelight.tools.powershell import PowerShell, powershell
from sidelight.tools.shell.dialect import Dialect
from sidelight.tools.shell.options import ShellOptions
from sidelight.tools.shell.tool import ShellTool
from sidelight.tools.task_output import TaskOutputTool
from sidelight.tools.task_stop import TaskStopTool
from sidelight.transcripts.replay import Replay

STARTED_AS = {
    "Bash": "backgroundTaskId",
    "PowerShell": "backgroundTaskId",
    "Monitor": "taskId",
}
"""The field of a tool's result that names the task which the call started."""


def background_of(stored: Replay | None) -> Background:
    """The tasks of a session; of a stored one it knows which were lost with their process."""
    background = Background()
    if stored is not None:
        ends = {m.kind for m in stored.messages if isinstance(m, Attachment)}
        named = (call.data.get(STARTED_AS.get(call.name, "")) for call in stored.calls.values())
        started = [str(task_id) for task_id in named if task_id]
        background.take_up(len(started), [each for each in started if TASK + each not in ends])
    return background


def shell_tools(
    options: ShellOptions, background: Background, platform: str = sys.platform
) -> Sequence[AnyTool]:
    """The shells that are there, and what goes with background tasks unless they are off."""
    dialects = shells(options.environment(), platform)
    tools: list[AnyTool] = [ShellTool(dialect, options, background) for dialect in dialects]
    if options.background:
        tools += [
            MonitorTool(dialects[0], options, background),
            TaskOutputTool(background),
            TaskStopTool(background),
        ]
    return tools


def shells(environ: Mapping[str, str], platform: str = sys.platform) -> Sequence[Dialect]:
    """Bash everywhere but on a Windows without it; there PowerShell, which is offered beside it."""
    if platform != "win32":
        return (Bash(),)
    path = environ.get("PATH")
    there: list[Dialect] = [Bash()] if shutil.which("bash", path=path) else []
    if powershell(path) or not there:
        there.append(PowerShell())
    return there
