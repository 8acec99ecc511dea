"""Every sentence that the server itself shows in an editor, in English and Chinese.

The English text is the key. Loaded before `initialize` is answered: plain Python only.
"""

CHINESE = {
    "Sidelight: explain the selection": "Sidelight：解释所选代码",
    "Sidelight: fix the selection": "Sidelight：修复所选代码",
    "Sidelight: add the selection to the chat": "Sidelight：把所选代码加入对话",
    "Sidelight: explain: {message}": "Sidelight：解释：{message}",
    "Sidelight: fix: {message}": "Sidelight：修复：{message}",
    "Sidelight: add to the chat: {message}": "Sidelight：加入对话：{message}",
    "Sidelight: write a docstring": "Sidelight：撰写文档字符串",
    "Sidelight: rename": "Sidelight：重命名",
    "Sidelight: commit message": "Sidelight：提交说明",
    "{title} (small local model)": "{title}（本地小模型）",
    "By the small local model on this computer; it may be wrong.": (
        "由本机上的本地小模型生成，可能有误。"
    ),
    (
        "Only the small local model is here. It explains code, writes docstrings and commit "
        "messages, and renames; it cannot work as an agent, so the chat is off. For the agent:"
    ): (
        "这里只有本地小模型。它可以解释代码、撰写文档字符串和提交说明、重命名；"
        "它不能作为智能体工作，因此对话已关闭。要使用智能体："
    ),
    (
        "Or get a small model that runs on this computer ({megabytes} MB, {licence}): "
        "`sidelight local install`. It explains code, writes docstrings and commit messages, and "
        "renames. It cannot work as an agent."
    ): (
        "或者获取一个在本机运行的小模型（{megabytes} MB，{licence}）：`sidelight local install`。"
        "它可以解释代码、撰写文档字符串和提交说明、重命名，但不能作为智能体工作。"
    ),
    "Document this code; change nothing else.": "为这段代码撰写文档，其他内容不要改动。",
    "Rename, everywhere in the project: {words}": "在整个项目中重命名：{words}",
    "Find a clearer name for this, and rename it everywhere in the project.": (
        "为它找一个更清楚的名称，并在整个项目中重命名。"
    ),
    "Write a commit message for what is staged; do not commit.": (
        "为已暂存的改动撰写提交说明，不要提交。"
    ),
    "{name} has a docstring; look at it before you keep it.": (
        "{name} 已有文档字符串，保留之前请先查看。"
    ),
    "Commit message: {text}": "提交说明：{text}",
    "{old} is now {new} in {count} places.": "{old} 已在 {count} 处改为 {new}。",
    "{old} is now {new} in {count} places of this file; other files stay as they are.": (
        "{old} 已在本文件的 {count} 处改为 {new}，其他文件保持不变。"
    ),
    "{old} is now {new} in {count} places; lines that still say {old}: {lines}.": (
        "{old} 已在 {count} 处改为 {new}；仍写着 {old} 的行：{lines}。"
    ),
    "This is not valid Python (line {line}): {error}": (
        "这不是有效的 Python（第 {line} 行）：{error}"
    ),
    "The answer changes more than the docstring.": "回答改动的不止文档字符串。",
    "The answer has no docstring.": "回答中没有文档字符串。",
    "The rename would change more than the name {old}.": "这次重命名改动的不止名称 {old}。",
    "{new} is not a name in Python.": "{new} 不是 Python 中的名称。",
    "The new name is the old one: {old}.": "新名称就是原来的名称：{old}。",
    "{new} would hide a built-in name.": "{new} 会遮住内置名称。",
    "{new} is in use in this file already.": "{new} 在本文件中已被使用。",
    "This file is nested too deeply.": "这个文件嵌套太深。",
    "Put the cursor into a function or a class.": "请把光标放到函数或类中。",
    "{name} is written on one line; there is no place.": "{name} 写在一行上，没有地方。",
    "{old} cannot be told apart from other names here.": "这里无法把 {old} 与其他名称区分开。",
    "{old} is not defined in this file.": "{old} 不是在本文件中定义的。",
    "{old} means several things here; put the cursor on one.": (
        "{old} 在这里有多个含义，请把光标放在其中一个上。"
    ),
    "Select the code first.": "请先选择代码。",
    "This is too long for the small local model; select less.": (
        "这对本地小模型来说太长，请少选一些。"
    ),
    "The small local model had nothing to say.": "本地小模型没有给出内容。",
    "This file defines no names.": "这个文件没有定义任何名称。",
    "{folder} is in no git repository.": "{folder} 不在 git 仓库中。",
    "{folder} is not trusted, so git is not run there; `sidelight trust` lets it.": (
        "{folder} 未受信任，因此不在其中运行 git；可用 `sidelight trust` 信任它。"
    ),
    "Nothing is staged: `git add` what belongs into the commit.": (
        "没有已暂存的改动：请用 `git add` 添加要提交的内容。"
    ),
    "The answer was cut off; nothing was changed.": "回答被截断，没有做任何改动。",
    "The answer does not have the form that was asked for.": "回答不符合要求的形式。",
    "The answer is no subject line.": "回答不是提交说明的标题行。",
    "{path} cannot be read: {error}": "无法读取 {path}：{error}",
    "The small local model changes Python files only.": "本地小模型只改动 Python 文件。",
    "The file was changed meanwhile; nothing was done. Try again.": (
        "文件在此期间被改动，没有做任何事。请再试一次。"
    ),
    "The action failed by a fault of its own and changed nothing; the log has the details.": (
        "操作因自身故障而失败，没有做任何改动；详情见日志。"
    ),
    "The edit was refused: {detail}": "编辑被拒绝：{detail}",
    "Ask for the commit message in the chat.": "请在对话中要求撰写提交说明。",
    "Sidelight: stop the agent": "Sidelight：停止",
    "Ask": "询问",
    "Edits and commands are asked first": "编辑和命令先征求同意",
    "Accept edits": "接受编辑",
    "Edits in the workspace are made at once, commands are asked": (
        "工作区内的编辑直接进行，命令先征求同意"
    ),
    "Plan": "计划",
    "Looks around and plans, changes nothing": "只查看和规划，不做任何改动",
    "Don't ask": "不询问",
    "What no rule allows is denied": "没有规则允许的一律拒绝",
    "{window} tokens": "{window} 词元",
    "${input} in, ${output} out per million": "每百万词元输入 ${input}，输出 ${output}",
    "Keep": "保留",
    "Undo": "撤销",
    "Show diff": "查看差异",
    "{n} of {total}": "第 {n} 处，共 {total} 处",
    "Allow once": "允许一次",
    "Allow for this session": "本次会话内允许",
    "Allow in this project": "在此项目中允许",
    "Always allow": "始终允许",
    "Deny": "拒绝",
    "reads": "读取",
    "writes": "写入",
    "runs": "运行",
    "contacts": "访问网络",
    "calls": "调用",
    "asks": "询问",
    "hidden characters: {names}": "不可见字符：{names}",
    "and {count} more": "以及另外 {count} 项",
    "Why: {why}": "原因：{why}",
    "This conversation has cost {spent}, its ceiling is {ceiling}. Go on?": (
        "本次对话已花费 {spent}，上限为 {ceiling}。继续吗？"
    ),
    "This run has cost {spent}, its ceiling is {ceiling}. Go on?": (
        "本次运行已花费 {spent}，上限为 {ceiling}。继续吗？"
    ),
    "Hooks of this folder are new or changed since you trusted it. Let them run?": (
        "自您信任此文件夹以来，其中的钩子有新增或改动。允许它们运行吗？"
    ),
    "They run commands on this computer:\n{hooks}": "它们会在本机上运行命令：\n{hooks}",
    "Let them run": "允许运行",
    "Not now": "暂不",
    "Go on up to {higher}": "继续，上限提高到 {higher}",
    "Stop": "停止",
    "Explain this code.": "解释这段代码。",
    "Find out what is wrong with this code and fix it.": "找出这段代码的问题并修复。",
    "Explain this problem and what causes it: {problem}": "解释这个问题及其原因：{problem}",
    "Fix this problem: {problem}": "修复这个问题：{problem}",
    "A picture was not sent along: {reason}": "有一张图片没有发送：{reason}",
    "Done": "完成",
    "Stopped": "已停止",
    "Failed: {error}": "失败：{error}",
    "The answer is in {path}": "回答保存在 {path}",
    "A task is running already; stop it first.": "已有任务在运行，请先停止它。",
    "Nothing is running.": "没有正在运行的任务。",
    "Nothing is waiting for review.": "没有等待查看的改动。",
    "{count} changes kept.": "已保留 {count} 处改动。",
    "{count} changes undone.": "已撤销 {count} 处改动。",
}


def say(locale: str, english: str, **fields: object) -> str:
    """The sentence in the client's language, English where there is no other, fields filled in."""
    sentence = CHINESE.get(english, english) if locale.startswith("zh") else english
    return sentence.format(**fields) if fields else sentence
