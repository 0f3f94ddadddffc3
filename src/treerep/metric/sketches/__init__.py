"""MinHash sketches of genomes: the metric, and the hashes of k-mers."""
