"""Finding text, naming why it is not found, and splicing."""
