"""A local page on which a recombination network is tried out by hand."""
