"""Words and ports of the whole house; no input or output happens here."""
