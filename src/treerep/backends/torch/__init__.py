"""Backend for torch devices."""
