"""Checks the metadata of packages: check_metadata.py FOLDER, which holds FORM/digits/ for each form."""
import configparser
import json
import sys
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

FOLDER = Path(sys.argv[1])


def check(good: bool, what: str) -> None:
    if not good:
        sys.exit(f"package: {what}")


def files(form: str) -> set[str]:
    root = FOLDER / form / "digits"
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def platformio() -> None:
    library = json.loads((FOLDER / "platformio/digits/library.json").read_text())
    there = files("platformio")
    check(library["name"] == "digits" and library["version"] == "2.3.4", "library.json names another library")
    check(all(f"{library['build']['srcDir']}/{header}" in there for header in library["headers"]), "library.json names a header that is not there")
    check(all(f"{e['base']}/{name}" in there for e in library["examples"] for name in e["files"]), "library.json names an example that is not there")


def cmsis_pack() -> None:
    root = FOLDER / "cmsis-pack/digits"
    tree = ElementTree.parse(root / "onnxc.digits.pdsc").getroot()
    named = [f.attrib["name"] for f in tree.iter("file")]
    check(named and all((root / name).exists() for name in named), "the .pdsc names files that are not there")
    check(tree.find("releases/release").attrib["version"] == "2.3.4", "the .pdsc has another version")
    with zipfile.ZipFile(root / "onnxc.digits.2.3.4.pack") as pack:
        check(pack.testzip() is None, "the .pack is damaged")
        inside = set(pack.namelist())
        check(inside == files("cmsis-pack") - {"onnxc.digits.2.3.4.pack"}, "the .pack has other files than the folder")
        check(all(pack.read(name) == (root / name).read_bytes() for name in inside), "the .pack has other bytes than the folder")


def yaml_keys() -> None:
    """There is no reader of YAML here: each line of these small files is a key with a value, a key alone, or an item."""
    for name in ("zephyr/digits/zephyr/module.yml", "zephyr/digits/sample/sample.yaml", "esp-idf/digits/idf_component.yml"):
        for line in (FOLDER / name).read_text().splitlines():
            check(not line.strip() or line.lstrip().startswith("- ") or ":" in line, f"{name}: {line!r}")
            check("\t" not in line and "@" not in line.replace("ada@example.com", ""), f"{name}: {line!r}")


def arduino_properties() -> None:
    path = FOLDER / "arduino/digits/library.properties"
    if path.exists():
        reader = configparser.ConfigParser(interpolation=None)
        reader.read_string("[library]\n" + path.read_text())
        keys = reader["library"]
        check(all(keys[k] for k in ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "architectures")), str(dict(keys)))


for run in (platformio, cmsis_pack, yaml_keys, arduino_properties):
    run()
