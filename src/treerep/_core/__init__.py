"""What every package may use: argument checks, files, compiled kernels, memory, threads, progress."""
