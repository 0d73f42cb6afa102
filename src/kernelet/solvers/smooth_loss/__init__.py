"""Any smooth loss of margins with a ridge, by Newton's method on sums over the rows."""
