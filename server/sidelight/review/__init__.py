"""Changes of the agent that wait for the user: kept or undone hunk by hunk."""
