"""Other forms of a model that mean the same: functions, branches, loops, constants, names, outputs, orders."""
from dressed import Dressed
from forms.constants import constant_nodes, defaults, late_constants, twins, unused
from forms.regions import branch, function, trips
from forms.surface import inputs_out, odd_names, order, outputs_twice, stated_types, steps_aside

FORMS = [(order, 0.3), (steps_aside, 0.15), (twins, 0.25), (late_constants, 0.15), (function, 0.2), (branch, 0.12), (trips, 0.08), (function, 0.1), (branch, 0.04), (outputs_twice, 0.08), (inputs_out, 0.1), (unused, 0.12),
         (constant_nodes, 0.25), (defaults, 0.08), (stated_types, 0.2), (odd_names, 0.12)]


def dress(graph, without=()):
    """A Dressed in some of the forms."""
    d = Dressed(graph)
    for form, p in FORMS:
        chosen = d.chance(p)
        if chosen and form.__name__ not in without and form(d):
            d.forms.append(form.__name__)
    return d
