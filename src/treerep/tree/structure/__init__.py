"""The tree as arrays: rooted order, canonical order, common ancestors, walks."""
