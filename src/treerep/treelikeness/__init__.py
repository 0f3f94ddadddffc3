"""How tree-like are the distances? Gromov's hyperbolicity."""
