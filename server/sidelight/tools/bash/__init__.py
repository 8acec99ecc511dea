"""The shell tool: how a command is read, what it touches, and how it runs."""
