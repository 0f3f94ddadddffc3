"""The workshop: threads, progress, files, compiled kernels. Imports no room, so every room may use it."""
