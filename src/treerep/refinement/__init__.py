"""How can this tree fit better? Edge lengths, moves, and trees around a refined sample."""
