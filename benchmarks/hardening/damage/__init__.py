"""Ways to damage files: their bytes, their text, and what a format says of itself."""
