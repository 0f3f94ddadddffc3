"""Find a torch device by name."""

from .extras import require
from .memory import out_of_device_memory
from .typing import DeviceLike, TorchDevice


def find_device(device: DeviceLike) -> TorchDevice:
    """Return the torch device of that name; None is the CPU, as everywhere."""
    torch = require("torch", "embed")
    if device is None:
        return torch.device("cpu")
    try:
        found = torch.device(device)
        # Not all devices compute, or in float64.
        torch.zeros(1, dtype=torch.float64, device=found).item()
    except (RuntimeError, TypeError, AssertionError, NotImplementedError) as error:
        if out_of_device_memory(error):
            full = f"the memory of device {str(device)!r} is full"
            raise MemoryError(f"{full}: free some, or use another") from error
        missing = f"torch finds no device {device!r} on this machine"
        raise ValueError(f"{missing}: leave it out, or use 'cpu'") from error
    return found
