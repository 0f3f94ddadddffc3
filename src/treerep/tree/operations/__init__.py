"""Trees made from trees: restrict, contract, reroot, cut into clusters."""
