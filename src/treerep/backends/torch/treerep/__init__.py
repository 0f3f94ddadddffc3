"""TreeRep on a device."""
