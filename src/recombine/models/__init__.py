"""Networks: tensors in, tensors out; no files, no settings, no printing."""
