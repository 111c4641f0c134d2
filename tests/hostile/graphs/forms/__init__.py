"""Other forms of a model that mean the same. Each takes a Dressed, changes it, and says whether it did."""
