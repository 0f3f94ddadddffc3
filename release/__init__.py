"""How a release is checked; docs/releasing.md tells the story."""
