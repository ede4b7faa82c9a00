"""From models to tokens: sampling, greedy and beam search."""
