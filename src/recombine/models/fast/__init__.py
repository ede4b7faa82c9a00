"""The networks along whole sequences that are known, as training and judging need them: many times as fast as plain.

On a CPU by torch in place, on a GPU by kernels. `recombiner` is what it computes.
"""
