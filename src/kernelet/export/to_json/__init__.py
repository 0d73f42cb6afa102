"""Models as JSON, and back."""
