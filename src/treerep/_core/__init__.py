"""Tools of all packages: argument checks, files, kernels, memory, threads, progress."""
