"""From inputs to outputs: the predictor that is trained on original and new examples, and direct inference."""
