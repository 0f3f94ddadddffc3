"""Checks of a release, described in docs/developers/releasing.md."""
