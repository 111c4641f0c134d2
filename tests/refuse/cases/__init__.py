"""Bad inputs, each with what onnxc must answer.

A case writes its files into an empty folder and names the model among them. `exit` is the exit status that is right; `says` are pieces of text
that the one line on standard error must hold. A case with exit status 0 is hard but valid: it must compile.
"""
from .case import CASES  # noqa: F401

# The families, in the order in which their cases run: importing one adds its cases.
from . import file  # noqa: F401
from . import graph  # noqa: F401
from . import shapes  # noqa: F401
from . import initialisers  # noqa: F401
from . import external_data  # noqa: F401
from . import attributes  # noqa: F401
from . import schemas  # noqa: F401
from . import bombs  # noqa: F401
from . import budgets  # noqa: F401
from . import inside  # noqa: F401
from . import usage  # noqa: F401
from . import forms  # noqa: F401
from . import commands  # noqa: F401
from . import trees_and_patterns  # noqa: F401
