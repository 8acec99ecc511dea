"""Settings files: where they lie, how they are read, joined and written."""
