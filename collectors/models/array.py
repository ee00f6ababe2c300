"""The values of a tensor, as every part of a recording passes them on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
