"""scikit-learn's estimators around `fit`, `place`, `Tree.cut` and `embed`. Importing a module of it imports sklearn."""
