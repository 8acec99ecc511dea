"""The editor at the door: the language server, and the host that asks the editor."""
