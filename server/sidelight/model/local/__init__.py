"""The optional small model: its weights, and the process that runs it."""
