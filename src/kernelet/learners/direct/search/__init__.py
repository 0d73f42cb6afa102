"""The search over the vectors: objectives, descent, exchange."""
