"""Safe git for everyone else; the only importer of GitPython."""
