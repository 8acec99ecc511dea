"""What all shells have in common: how a command is run, left to itself, and reported."""
