"""Opens the page of samples/web and compares its scores: check.py PAGE [PICTURE]."""
import json
import sys
from pathlib import Path

from browser import Browser

SAMPLE = Path("samples/digits")


def read_pgm(path):
    words = [w for line in path.read_text().splitlines() if not line.startswith("#") for w in line.split()]
    assert words[:3] == ["P2", "8", "8"], path
    return [int(w) / int(words[3]) for w in words[4:]]


def main():
    page, picture = sys.argv[1], sys.argv[2]
    label, *expected = (float(w) for w in (SAMPLE / "expected.txt").read_text().removeprefix("label").split())
    with Browser("chromium") as browser:
        browser.open(page, width=820, height=450)
        browser.evaluate("ready.then(() => true)")
        image = read_pgm(SAMPLE / "digit.pgm")
        # As it is: what a run gives. As a picture: greys have eight bits there.
        scores = browser.evaluate(f"recognise(new Float32Array({json.dumps(image)}))")
        errors = [abs(a - e) for a, e in zip(scores, expected, strict=True)]
        assert max(errors) < 1e-5, (scores, expected)
        shown = browser.evaluate(f"show({json.dumps(image)})")
        assert shown.index(max(shown)) == label, shown
        assert browser.evaluate("rows.findIndex(row => row.className === 'best')") == label
        if picture:
            browser.screenshot(picture)
        browser.evaluate("clear()")
        x, y, width = browser.evaluate("(({x, y, width}) => [x, y, width])(paper.getBoundingClientRect())")
        browser.drag(x + width / 2, y + 40, 0, width - 80, 12)  # a stroke from top to bottom is a one
        assert browser.evaluate("rows.findIndex(row => row.className === 'best')") == 1, browser.evaluate("recognise(shrink())")
        assert not browser.errors and all(url.startswith(("file:", "data:", "about:")) for url in browser.requests), (browser.errors, browser.requests)
    print(f"page: largest error {max(errors):.1e}")


main()
