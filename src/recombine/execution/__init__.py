"""Work that is done one piece after the other, in several processes, or on many machines, with the same results."""
