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
    "Explain this code.": "解释这段代码。",
    "Find out what is wrong with this code and fix it.": "找出这段代码的问题并修复。",
    "Explain this problem and what causes it: {problem}": "解释这个问题及其原因：{problem}",
    "Fix this problem: {problem}": "修复这个问题：{problem}",
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
