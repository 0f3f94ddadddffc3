"""Figures and HTML pages of trees and embeddings."""
