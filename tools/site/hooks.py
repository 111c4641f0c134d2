"""Pages of the site that lists and other files make: the home page and the architecture from the repository's root, what `--help` says, and the headers
that users include. MkDocs calls these functions; $ONNXC names the executable, else build/onnxc.
"""
import os
import re
import subprocess
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
HEADERS = ("model.h", "memory.hpp", "threads.hpp", "profile.h", "custom.hpp")


def on_files(files, config):
    made = {
        "index.md": at_root("README.md"),
        "architecture.md": at_root("ARCHITECTURE.md"),
        "reference/commands.md": commands(),
        "reference/headers.md": headers(),
    }
    for path, text in made.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to files of the repository that are no pages become their names."""
    folder = (ROOT / "docs" / page.file.src_uri).parent

    def link(match):
        text, target = match[1], match[2]
        path = (folder / target.split("#")[0]).resolve()
        if "://" in target or target.startswith("#") or path.is_relative_to(ROOT / "docs"):
            return match[0]
        if path == ROOT / "ARCHITECTURE.md":
            return f"[{text}]({os.path.relpath(ROOT / 'docs/architecture.md', folder)})"
        return text if "`" in text or path.name in text else f"{text} (`{path.relative_to(ROOT)}`)"

    return re.sub(r"(?<!!)\[([^\]\[]+)\]\(([^)\s]+)\)", link, markdown)


def at_root(name):
    """A page of the root, whose links begin where docs/ is."""
    text = (ROOT / name).read_text()
    text = re.sub(r"\]\((?:docs/)", "](", text)
    return re.sub(r"\]\((?!https?:|#|docs/)((?:compiler|tools|samples|runtime_stub|tests)/)", r"](../\1", text).replace("](ARCHITECTURE.md)", "](architecture.md)")


def help_of(*command):
    executable = os.environ.get("ONNXC", ROOT / "build/onnxc")
    try:
        said = subprocess.run([executable, *command, "--help"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise PluginError(f"{executable} does not say what its options are ({error}): build it, or name it in ONNXC") from error
    return said.replace(str(executable), "onnxc")


def as_items(said):
    """`  --option TYPE   text`, whose text may go on below, as items of a list; what is before the options stays as it is."""
    before, _, options = said.partition("\nOptions:\n")
    options = options.partition("\nSubcommands:\n")[0]  # each is a section
    items = []
    for line in options.splitlines():
        if head := re.match(r"  (-.*?)(?: {2,}(\S.*))?$", line):
            items.append([head[1], head[2] or ""])
        elif items and line.strip():
            items[-1][1] = f"{items[-1][1]} {line.strip()}".strip()
    escaped = [(names, re.sub(r"([\\`*_<>\[\]|])", r"\\\1", text)) for names, text in items]
    return f"```text\n{before.strip()}\n```\n\n" + "".join(f"- `{names}`<br>{text}\n" for names, text in escaped)


def commands():
    main = help_of()
    names = re.findall(r"^  ([a-z]+) ", main[main.index("Subcommands:"):], re.M)
    text = "# Commands\n\nWhat `--help` says of `onnxc` and of each subcommand.\n"
    for name in ("", *names):
        text += f"\n## onnxc {name}".rstrip() + f"\n\n{as_items(help_of(name) if name else main)}"
    return text


def headers():
    """Each header's opening comment as prose, and the rest as it stands."""
    text = "# Public headers\n\nWhat programs include, from `runtime_stub/onnxc/`. The header that onnxc writes beside a unit is [a page of its own](../emitted-interface.md).\n"
    for name in HEADERS:
        whole = (ROOT / "runtime_stub/onnxc" / name).read_text()
        opening = re.match(r"(?://.*\n)+|/\*.*?\*/\n", whole, re.S if whole.startswith("/*") else 0)[0]
        prose = re.sub(r"^(?:// ?|/\* | \* ?| ?\*/)", "", opening, flags=re.M)
        prose = re.sub(r"^  +(?=\S)", "    ", prose, flags=re.M)  # examples
        code = whole[len(opening):].strip()
        text += f"\n## onnxc/{name}\n\n{prose.strip()}\n\n```{'c' if name.endswith('.h') else 'cpp'}\n{code}\n```\n"
    return text
