"""One conversation: its history, mode, rules, files and pending changes."""
