"""Trees built from a root: Gromov's tree, ConstructTree, UPGMA."""
