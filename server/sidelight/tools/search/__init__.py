"""Walking and searching folders: ripgrep, and the same without it."""
