"""The same agent without an editor: one prompt in, text or JSON out."""
