"""Running other programs, and what they get to see of our environment."""
