"""Builds the site and opens it: no warning, no broken link, nothing that a browser would load from another host, and a search that works from a local server.

    site.py BUILD_FOLDER [PICTURES]     with a folder: pictures of some pages, wide and narrow, light and dark, and of a search
"""
import functools
import html.parser
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

sys.path.append(str(Path(__file__).resolve().parents[1] / "report"))
from browser import Browser  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LOADS = {"link": "href", "script": "src", "img": "src", "source": "src", "iframe": "src", "video": "src", "audio": "src", "object": "data", "use": "href"}
PAGES = ("index.html", "tutorial/first-model.html", "refusals/index.html", "reference/commands.html", "report.html")
faults = []


class References(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.loads, self.links, self.names = [], [], set()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.names |= {given[a] for a in ("id", "name") if given.get(a)}
        target = given.get(LOADS.get(tag, ""))
        if target and not (tag == "link" and given.get("rel") in ("canonical", "prev", "next")):
            self.loads.append(target)
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])


def check_references(site):
    pages = {}
    for path in sorted(site.rglob("*.html")):
        pages[path] = References()
        pages[path].feed(path.read_text())
    for path, references in pages.items():
        where = path.relative_to(site)
        faults.extend(f"{where} loads {target}" for target in references.loads if urlsplit(target).scheme in ("http", "https") or target.startswith("//"))
        for target in references.links + references.loads:
            if urlsplit(target).scheme:
                continue
            link, anchor = urldefrag(target)
            other = (path.parent / unquote(link)).resolve() if link else path
            if link.startswith("/"):
                continue  # of the page for what is not found, which servers answer anywhere
            if other.is_dir():
                other = other / "index.html"
            if not other.exists():
                faults.append(f"{where}: no {target}")
            elif anchor and not anchor.startswith("__") and other in pages and unquote(anchor) not in pages[other].names:
                faults.append(f"{where}: no {target}")
    for path in site.rglob("*.css"):
        faults.extend(f"{path.relative_to(site)} loads {url}" for url in re.findall(r"(?:url\(|@import )[\"']?(https?:[^)\"']+)", path.read_text()))
    return len(pages)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def check_in_browser(site, pictures):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_port}"
    with Browser(shutil.which("chromium")) as browser:

        def show(page, width=1400, dark=False):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=1000, deviceScaleFactor=1, mobile=False)
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
            browser.call("Page.navigate", url="about:blank")
            browser.call("Page.navigate", url=f"{at}/{page}")
            browser.wait(f"location.pathname === '/{page}' && document.readyState === 'complete'")
            browser.frames(3)

        def picture(name):
            if pictures:
                pictures.mkdir(parents=True, exist_ok=True)
                browser.screenshot(pictures / f"{name}.png")

        for page in PAGES:
            for width in (1400, 390):
                for dark in (False, True):
                    show(page, width, dark)
                    if browser.evaluate("document.documentElement.scrollWidth") > width:
                        faults.append(f"{page} is wider than {width} pixels")
                    if browser.evaluate("document.body.dataset.mdColorScheme") != ("slate" if dark else "default"):
                        faults.append(f"{page} does not follow the system's {'dark' if dark else 'light'} theme")
                    picture(f"{page.removesuffix('.html').replace('/', '-')}-{width}-{'dark' if dark else 'light'}")
        show("index.html")
        browser.evaluate("document.querySelector('[data-md-component=search-query]').focus()")
        browser.call("Input.insertText", text="cross compiler")
        try:
            browser.wait("document.querySelectorAll('.md-search-result__item').length > 0", 30)
            picture("search")
        except TimeoutError:
            faults.append("a search finds nothing")
        faults.extend(f"a page asks for {url}" for url in browser.requests if not url.startswith((at, "data:", "about:", "blob:")))
        faults.extend(f"a page's script: {error}" for error in browser.errors)
    server.shutdown()


def main():
    build, pictures = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        made = subprocess.run([ROOT / "tools/site.sh", "--site-dir", site], capture_output=True, text=True, env=os.environ | {"ONNXC": str(build / "onnxc")})
        if made.returncode != 0 or "WARNING" in made.stderr + made.stdout:
            faults.append(f"tools/site.sh: {made.stdout[-2000:]}{made.stderr[-3000:]}")
        else:
            number = check_references(site)
            entries = len(json.loads((site / "search/search_index.json").read_text())["docs"])
            print(f"site: {number} pages, {entries} entries of the search")
            if shutil.which("chromium"):
                check_in_browser(site, pictures)
            else:
                print("(no chromium: the site is not opened)")
    for fault in faults:
        print(f"FAILED  {fault}")
    sys.exit(1 if faults else 0)


main()
