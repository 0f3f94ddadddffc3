"""Torch devices by name."""

from .extras import require
from .memory import out_of_device_memory
from .typing import DeviceLike, TorchDevice


def find_device(device: DeviceLike) -> TorchDevice:
    """Return the torch device with this name; None means the CPU."""
    torch = require("torch", "embed")
    if device is None:
        return torch.device("cpu")
    try:
        found = torch.device(device)
        # Some devices cannot compute, or cannot compute in float64.
        torch.zeros(1, dtype=torch.float64, device=found).item()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        if out_of_device_memory(error):
            full = f"the memory of device {str(device)!r} is full"
            raise MemoryError(f"{full}: free some memory, or use another device") from error
        missing = f"torch cannot find device {device!r} on this machine"
        raise ValueError(f"{missing}: leave it out, or use 'cpu'") from error
    return found
