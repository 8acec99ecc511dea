"""A strict, scripted double of the Anthropic Messages API that speaks real HTTP on loopback."""
