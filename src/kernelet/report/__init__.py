"""Pages that show models at work, each one file that loads nothing."""
