"""What the model is told: system prompt, reminders, and the history in valid form."""
