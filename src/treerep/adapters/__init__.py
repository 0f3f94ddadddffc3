"""Objects of other libraries, in and out. Importing this package imports none of those libraries."""
