"""Numbers of vectors that are chosen, and machines that keep to bytes."""
