"""What the networks do at every time step besides products of matrices, each as one operation.

On a CPU, and wherever there is no Triton, an operation is what its plain definition here says. On a GPU one kernel
computes it and another its gradient (see `kernels`).
"""

from recombine.models.fusion.attention import Attended, Remembered
from recombine.models.fusion.availability import fused
from recombine.models.fusion.dropping import Drop, Joined, dropped, join
from recombine.models.fusion.hoisted import Hoisted, affine, stacked
from recombine.models.fusion.own_output import OwnOutput
from recombine.models.fusion.recurrence import Gates, bilstm

__all__ = [
    "Attended",
    "Drop",
    "Gates",
    "Hoisted",
    "Joined",
    "OwnOutput",
    "Remembered",
    "affine",
    "bilstm",
    "dropped",
    "fused",
    "join",
    "stacked",
]
