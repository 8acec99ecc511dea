"""Results that are too long to show: kept whole in a file, shown from their beginning."""

import re

import anyio

from sidelight.core.content import Text
from sidelight.core.tool import ToolContext, ToolOutput

LARGEST = 120_000
"""Characters of text in one result; above what any of our own tools gives, which page by itself."""
PREVIEW = 4_000


async def kept_small(output: ToolOutput, context: ToolContext) -> ToolOutput:
    """The output as it is, or its beginning with the path of a private file that has all text.

    Where no file can be written, that is said in the place of the path.
    """
    texts = [block.text for block in output.content if isinstance(block, Text)]
    size = sum(len(text) for text in texts)
    if size <= LARGEST:
        return output
    whole = "\n".join(texts)
    name = re.sub(r"[^\w-]", "_", context.tool_use_id)
    path = anyio.Path(context.scratch_dir) / f"result-{name}.txt"
    where = f"All of it is in {path}; use Grep or Read with offset and limit on it."
    try:
        await path.parent.mkdir(0o700, parents=True, exist_ok=True)
        await path.write_text(whole, encoding="utf-8", errors="backslashreplace", newline="")
        await anyio.Path(path).chmod(0o600)
    except OSError as error:
        where = f"The rest could not be kept ({error.strerror}): ask for less at a time."
    text = f"{whole[:PREVIEW]}\n\n[The result has {size:,} characters. {where}]"
    others = tuple(block for block in output.content if not isinstance(block, Text))
    return output.model_copy(update={"content": (Text(text=text), *others)})
