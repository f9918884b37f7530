"""A package that is called as the product is."""
