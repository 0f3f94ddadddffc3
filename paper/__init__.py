"""The paper, reproduced: every table and figure, computed with this package and put beside the published numbers."""
