"""Operations that make trees from trees: restrict, contract, reroot, cut into clusters."""
