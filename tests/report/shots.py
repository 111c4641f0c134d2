"""Pictures of pages, for docs/images and for looking at: shots.py OUT_FOLDER PAGE.html[:TAB[:dark[:HEIGHT]]]..."""
import os
import shutil
import sys

from browser import Browser

out, pages = sys.argv[1], sys.argv[2:]
os.makedirs(out, exist_ok=True)
with Browser(shutil.which("chromium")) as browser:
    for page in pages:
        path, tab, theme, height = (page.split(":") + ["", "", ""])[:4]
        browser.open(path, height=int(height or 900), dark=theme == "dark", fragment=f"#{tab}" if tab else "")
        if tab in ("", "graph") and browser.evaluate("!!window.onnxcViews"):
            browser.evaluate("selection.set('steps', nodeOfStep[Math.min(3, nodeOfStep.length - 1)])")
        name = os.path.splitext(os.path.basename(path))[0] + (f"-{tab}" if tab else "") + (f"-{theme}" if theme else "")
        browser.screenshot(f"{out}/{name}.png")
        print(f"{out}/{name}.png", *browser.errors)
