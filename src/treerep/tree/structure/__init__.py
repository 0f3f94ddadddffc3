"""Trees as arrays: rooted order, canonical order, common ancestors, walks."""
