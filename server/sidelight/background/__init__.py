"""What runs on in a session while the model does something else."""
