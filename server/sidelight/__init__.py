"""Sidelight: a coding agent whose home is the editor."""
