"""The loop: one prompt becomes steps, and each tool call has one life."""
