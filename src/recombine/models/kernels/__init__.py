"""GPU kernels, in Triton, for what the networks do at every time step: each does in one launch what takes many.

Every kernel has a plain counterpart in `fast.on_cpu` (or, for Adam, in `training.optimizer`): what it computes.
A GPU runs a launch in microseconds, so that at these sizes the number of launches is what training costs.

A kernel's arguments are places in memory and numbers. Tensors start with the axes R, B, of which a kernel is told the
strides (`x_r`, `x_b`: how far apart two replicas, two examples of `x` are); the axes after them are contiguous. `d_x`
is the gradient of `x`. What is None is left out.
"""
