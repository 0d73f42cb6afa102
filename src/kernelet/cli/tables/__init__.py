"""Tables of every format: where they are, how they are read, what they hold."""
