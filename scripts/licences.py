"""The licences of a package's dependencies, from `cargo metadata` on standard input.

usage: cargo metadata --format-version 1 | python3 scripts/licences.py PACKAGE

Prints each crate that is linked into the package (not those of its tests or builds) with its
licence, then the text of every licence file, each once.
"""

import json
import pathlib
import sys


def linked(metadata, name):
    """The packages that `name` is linked from, itself left out."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    packages = {package["id"]: package for package in metadata["packages"]}
    start = next(id for id, package in packages.items() if package["name"] == name)
    seen, left = set(), [start]
    while left:
        node = left.pop()
        if node in seen:
            continue
        seen.add(node)
        for dependency in nodes[node]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                left.append(dependency["pkg"])
    found = [packages[id] for id in seen - {start} if packages[id]["source"]]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def texts(package):
    """The licence files of a package."""
    folder = pathlib.Path(package["manifest_path"]).parent
    marks = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")
    files = [file for file in sorted(folder.iterdir()) if file.name.upper().startswith(marks)]
    return [file.read_text(errors="replace").strip() for file in files if file.is_file()]


def main():
    packages = linked(json.load(sys.stdin), sys.argv[1])
    by_text = {}
    for package in packages:
        print(f"{package['name']} {package['version']}: {package['license'] or 'no licence named'}")
        for text in texts(package):
            by_text.setdefault(text, []).append(package["name"])
    for text, names in by_text.items():
        print("\n" + "=" * 80)
        print(", ".join(names))
        print("=" * 80 + "\n")
        print(text)


main()
