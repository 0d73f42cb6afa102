"""Inner problems of the direct method, one convex problem a file."""
