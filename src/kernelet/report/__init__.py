"""Pages that show models at work."""
