"""How a release is checked; docs/developers/releasing.md tells the story."""
