"""One file for each kind of hook handler."""
