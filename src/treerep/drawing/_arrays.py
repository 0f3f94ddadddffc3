"""Array types used for drawing."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
#: Points of the plane as complex numbers.
ComplexArray: TypeAlias = NDArray[np.complex128]
