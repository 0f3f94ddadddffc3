"""Parts of a picture: edges, labels, scale bar, legends and strips."""
