"""Single tasks on code for a small model: it answers or chooses, and code edits and checks."""
