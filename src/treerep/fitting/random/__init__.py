"""Random trees that dominate the metric: Bartal's trees and FRT."""
