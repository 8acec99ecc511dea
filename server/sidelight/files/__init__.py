"""Text files as bytes and back: encodings, snapshots, atomic writes."""
