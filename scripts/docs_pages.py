"""Lays out the pages of the site: `python3 scripts/docs_pages.py OUT`, from the repository's root.

Pages keep their text; sessions of Python (`>>>`) are set as code. A link to another page leads to its place on the site; a link to a file
that is not on the site becomes the name of that file.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SESSION = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def pages():
    """Each page of the repository, and its name on the site."""
    found = {page: page.name for page in sorted((ROOT / "docs").glob("*.md"))}
    for page in sorted((ROOT / "python" / "docs").glob("*.md")):
        found[page] = f"python-{page.name}"
    found[ROOT / "README.md"] = "readme.md"
    found[ROOT / "CONTRIBUTING.md"] = "contributing.md"
    found[ROOT / "CHANGELOG.md"] = "changelog.md"
    return found


def moved(page, text, names):
    """The text of a page with its links as they are on the site."""

    def link(found):
        words, path, place = found.groups()
        file = (page.parent / path).resolve()
        if not file.exists():
            raise SystemExit(f"{page.relative_to(ROOT)}: there is no {path}")
        if file in names:
            return f"[{words}]({names[file]}{place or ''})"
        inside = file.relative_to(ROOT)
        return words if str(inside) in words else f"{words} (`{inside}`)"

    text = SESSION.sub(lambda found: f"```pycon\n{found.group()}\n```", text)
    blocks = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(block if block.startswith("```") else LINK.sub(link, block) for block in blocks)


def main():
    out = pathlib.Path(sys.argv[1])
    names = pages()
    for page, name in names.items():
        text = moved(page, page.read_text(), names)
        # The README's picture is named from the root.
        (out / name).write_text(text.replace("(docs/pictures/", "(pictures/"))
    shutil.copytree(ROOT / "docs" / "pictures", out / "pictures", dirs_exist_ok=True)
    for name in ("conf.py", "index.md"):
        shutil.copy(ROOT / "docs" / "site" / name, out / name)


main()
