"""Parameters of the kernel, learned along with the vectors."""
