"""Models around fitted models: probabilities, and the columns of a table."""
