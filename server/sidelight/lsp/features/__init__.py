"""What an editor may ask of us, one file a subject."""
