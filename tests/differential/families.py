"""The table of operators: importing it fills spec.GENERATORS."""
import elementwise  # noqa: F401
import shapes  # noqa: F401
import indexing  # noqa: F401
import reductions  # noqa: F401
import windows  # noqa: F401
import linear  # noqa: F401
import normalisation  # noqa: F401
import quantised  # noqa: F401
