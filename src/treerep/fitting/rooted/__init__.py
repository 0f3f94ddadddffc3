"""Trees hung from a root: Gromov's tree, ConstructTree, UPGMA."""
