"""Ways to bend a form, one at a time: each is a name and a function that changes a Draft.

A name says the kind first, then where: `type/x1/string`, `attribute/axis/twice`. What a bend must find (an input, an attribute) the form has: no bend is without effect.
"""
from bends.draft import Bend, Draft
from bends.inputs import input_bends
from bends.arity import arity_bends, output_bends
from bends.attributes import attribute_bends
from seeds import schemas


def version_bends(draft):
    domain, since = draft.seed.domain, draft.seed.since
    first = min(schemas()[domain, draft.seed.op])

    def put(version):
        return lambda d: d.opsets.__setitem__(domain, version)

    for name, version in {"0": 0, "-1": -1, "1": 1, "1000": 1000, "2e62": 2**62, "before_first": first - 1, "before": since - 1, **({"latest": 26} if not domain else {})}.items():
        if version != draft.opsets[domain]:
            yield Bend(f"version/{name}", put(version))
    yield Bend("version/not_imported", lambda d: d.opsets.pop(domain))
    yield Bend("version/no_imports", lambda d: d.opsets.clear())


def bends_of(draft, kind):
    """Those of a form: `mixed`, with constants where they are usual; `folded`, with constants alone; `run_time`, with none."""
    yield Bend("as_it_is", lambda d: None)
    if kind in ("mixed", "folded"):
        yield from input_bends(draft)
        yield from arity_bends(draft)
    if kind == "run_time":
        usual = {i for i in draft.seed.constants}
        yield from (b for b in input_bends(draft) if any(b.name.startswith(f"{k}/x{i}/") for i in usual for k in ("type", "rank", "extent")))
    if kind == "mixed":
        yield from output_bends(draft)
        yield from version_bends(draft)
    if kind == "mixed" or kind == "folded" and draft.node.attribute:
        yield from attribute_bends(draft)


def forms_of(seed, first):
    """(name, function that makes the model), of a Seed and all bends. `first`: is it its operator's first form?"""
    tensors = {i for i, value in enumerate(seed.inputs) if value is not None and value.tensor is not None}
    kinds = {"mixed": seed.constants & tensors}
    if tensors and tensors == {i for i, value in enumerate(seed.inputs) if value is not None} and tensors != kinds["mixed"]:
        kinds["folded"] = tensors
    if kinds["mixed"]:
        kinds["run_time"] = set()
    for kind, constants in kinds.items():
        for bend in bends_of(Draft(seed, constants), kind):
            def make(bend=bend, constants=constants):
                draft = Draft(seed, constants)
                bend.apply(draft)
                return draft.model()
            yield f"{seed.name}{'' if first else '.less'}/{kind}/{bend.name}", make
