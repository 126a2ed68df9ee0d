#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""build.py FOLDER [--look BROWSER]: builds the site in FOLDER/site with mkdocs-material, which it installs from PyPI in FOLDER/venv.

Pages are the Markdown files of the sources, in their folders, and those beside this script. Links to files that are no pages become
their names. mkdocs checks all others (--strict). With --look, that browser (chromium) takes pictures of some pages at three
widths, into FOLDER/looks.
"""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
PACKAGES = ("mkdocs==1.6.1", "mkdocs-material==9.8.2")
PAGES = ("*.md", "docs/*.md", "docs/adr/*.md", "bench/*.md", "bench/results/*.md", "examples/*.md", "fortran/*.md")
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
COMMENT = re.compile(r"^<!--.*?-->\n", re.M)
LOOKS = ("index", "performance", "docs/from-open-mpi", "docs/faq", "docs/TOOLS")
WIDTHS = (390, 820, 1440)


def pages():
    return sorted(path for pattern in PAGES for path in SOURCE.glob(pattern))


def without_dead_ends(text, path, known):
    """Returns the text. Links to pages stay, and those to other files or folders become their words."""
    def replace(link):
        words, target = link[1], link[2]
        if re.match(r"[a-z]+:|#", target):
            return link[0]
        file = (path.parent / target.split("#")[0]).resolve()
        if file.is_dir() and file / "README.md" in known:
            return f"[{words}]({target.rstrip('/')}/README.md)"
        if file in known:
            return link[0]
        if not file.exists():
            sys.exit(f"build.py: {path.relative_to(SOURCE)} has a link to {target}, which is not there")
        return words
    return LINK.sub(replace, text)


def gather(folder):
    shutil.rmtree(folder, ignore_errors=True)
    known = set(pages())
    for path in known:
        to = folder / path.relative_to(SOURCE)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(without_dead_ends(COMMENT.sub("", path.read_text()), path, known))
    # mkdocs takes README.md for the start of its folder, where index.md is.
    (folder / "README.md").rename(folder / "install.md")
    for page in folder.rglob("*.md"):
        up = "../" * (len(page.relative_to(folder).parts) - 1)
        text = page.read_text()
        page.write_text(re.sub(rf"\]\({re.escape(up)}README\.md", f"]({up}install.md", text) if up
                        else text.replace("](README.md", "](install.md"))
    for name in ("index.md", "performance.md", "site.css"):
        (folder / name).write_text((HERE / name).read_text().replace("](README.md", "](install.md"))


def draw(folder):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE))
    import pictures
    pictures.draw(SOURCE, folder)


def build(folder):
    python = folder / "venv/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    gather(folder / "pages")
    draw(folder / "pages/pictures")
    settings = (HERE / "mkdocs.yml").read_text().replace(": README.md", ": install.md")
    (folder / "mkdocs.yml").write_text(settings + f"docs_dir: {folder}/pages\nsite_dir: {folder}/site\nuse_directory_urls: false\n")
    subprocess.run([python, "-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", folder / "mkdocs.yml"], check=True)


def look(folder, browser):
    (folder / "looks").mkdir(exist_ok=True)
    for page in LOOKS:
        for width in WIDTHS:
            picture = folder / "looks" / f"{page.replace('/', '-')}-{width}.png"
            subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={width},1600",
                            "--virtual-time-budget=4000", f"--screenshot={picture}", f"file://{folder}/site/{page}.html"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if not picture.exists():
                sys.exit(f"build.py: {browser} has made no picture of {page}")
            print(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--look", metavar="BROWSER")
    wanted = parser.parse_args()
    folder = wanted.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    build(folder)
    print(folder / "site/index.html")
    if wanted.look:
        look(folder, wanted.look)


if __name__ == "__main__":
    main()
