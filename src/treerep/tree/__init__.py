"""Room `tree`: a weighted tree, and its distances."""
