"""Random trees that dominate the metric: Bartal's and FRT."""
