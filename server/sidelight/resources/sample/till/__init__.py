"""A little cash register."""
