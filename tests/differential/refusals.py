"""What onnxc may refuse among the random cases, and why; anything else that it refuses is a fault.

    refusals.py REPORT        the report of build/conformance
"""
import json
import re
import sys

# Regular expression of the refusal -> reason.
ALLOWED = {
    "^LinearAttention: the size of a head": "the state of a head has a size that is known when it is compiled",
    "^CausalConvWithState: this operator is not supported": "its function body has the number of channels, which is a symbol here",
    "^Resize: keep_aspect_ratio_policy=.* with sizes only known when the model runs": "the extents follow from the least of some quotients, which extents cannot express",
}


def main():
    cases = [c for c in json.load(open(sys.argv[1]))["cases"] if c["result"] == "unsupported"]
    faults = 0
    for case in cases:
        reason = next((why for pattern, why in ALLOWED.items() if re.search(pattern, case["reason"])), None)
        faults += reason is None
        print(f"{'refused' if reason else 'REFUSED'} {case['name']}: {case['reason'][:200]}{f' ({reason})' if reason else ''}")
    print(f"{len(cases)} refused, {faults} of them for no known reason")
    sys.exit(faults != 0)


if __name__ == "__main__":
    main()
