"""Weighted trees and their distances."""
