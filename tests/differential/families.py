"""The table of operators: importing it fills spec.GENERATORS."""
import elementwise  # noqa: F401
import shapes  # noqa: F401
import indexing  # noqa: F401
import reductions  # noqa: F401
import windows  # noqa: F401
import linear  # noqa: F401
import normalisation  # noqa: F401
import quantised  # noqa: F401
import resampling  # noqa: F401
import recurrent  # noqa: F401
import signal_windows  # noqa: F401
import text_sequences  # noqa: F401
import losses  # noqa: F401
import attention  # noqa: F401
import chains  # noqa: F401
