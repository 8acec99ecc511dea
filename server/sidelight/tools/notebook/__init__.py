"""Jupyter notebooks: where each cell stands in the file, how cells are shown and changed."""
