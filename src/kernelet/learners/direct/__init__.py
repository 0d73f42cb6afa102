"""The direct method (Wu, Schölkopf, Bakır 2006): vectors found by gradient."""
