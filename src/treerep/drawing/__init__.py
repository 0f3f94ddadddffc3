"""Pictures and pages of trees and embeddings."""
