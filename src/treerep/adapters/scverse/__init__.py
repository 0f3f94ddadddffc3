"""AnnData: tools and plots for single cells."""
