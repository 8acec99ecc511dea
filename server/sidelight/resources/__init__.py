"""Texts that ship with the program."""
