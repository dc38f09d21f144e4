"""What MkDocs lacks to make a site of pages that are read on GitHub too.

Pages of the repository outside docs/ become pages of the site, and links follow. One to a page of
the site leads there, one to another file of the repository leads to `repo_url`. Where mkdocs.yml
gives no `repo_url`, such a link is shown as the path of the file. A link to a file that is not
there is a warning, which ends a strict build.
"""

import logging
import posixpath
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import urlsplit

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs"
# Pages of the site that are files of the repository elsewhere than in docs/.
PAGES = {
    "start.md": "README.md",
    "configuration.md": "config/README.md",
    "local.md": "profiles/local/README.md",
    "slurm.md": "profiles/slurm/README.md",
    "kubernetes.md": "profiles/kubernetes/README.md",
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "results.md": "reports/README.md",
    **{
        f"results-{path.stem}.md": f"reports/{path.name}"
        for path in sorted((ROOT / "reports").glob("*.md"))
        if path.stem != "README"
    },
}
SITE_PAGES = {path: page for page, path in PAGES.items()}
log = logging.getLogger("mkdocs.plugins.links")


def github_slug(heading: str, separator: str) -> str:
    """Return the anchor that GitHub gives to a heading, so that a link serves there and here."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", separator)


def repository_path(page: str) -> str:
    """Return where the text of a page of the site stands in the repository."""
    return PAGES.get(page, posixpath.join(DOCS, page))


def site_page(path: str) -> str | None:
    """Return the page of the site that shows a file of the repository, None if none does."""
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    return SITE_PAGES.get(path)


def show_as_path(link: ET.Element, path: str) -> None:
    """Turn a link into its text, with the path behind it where the text is another."""
    text = "".join(link.itertext())
    tail = link.tail
    link.attrib.clear()
    link.tail = tail
    if text == path or path.endswith(f"/{text}"):
        for child in list(link):
            link.remove(child)
        link.tag, link.text = "code", path
        return
    link.tag = "span"
    last = list(link)[-1] if len(link) else None
    if last is None:
        link.text = f"{text} ("
    else:
        last.tail = f"{last.tail or ''} ("
    code = ET.SubElement(link, "code")
    code.text, code.tail = path, ")"


class RepositoryLinks(Treeprocessor):
    """Rewrites the relative links of one page."""

    def __init__(self, markdown: Markdown, hook: "RepositoryLinksExtension") -> None:
        super().__init__(markdown)
        self.hook = hook

    def run(self, root: ET.Element) -> None:
        """Rewrite every link and picture below `root` in place."""
        for picture in root.iter("img"):
            here = posixpath.dirname(repository_path(self.hook.page))
            path = posixpath.normpath(posixpath.join(here, picture.get("src", "")))
            if path.startswith(f"{DOCS}/"):
                start = posixpath.dirname(self.hook.page) or "."
                picture.set("src", posixpath.relpath(path.removeprefix(f"{DOCS}/"), start))
        for link in list(root.iter("a")):
            parts = urlsplit(link.get("href", ""))
            if parts.scheme or parts.netloc or not parts.path:
                continue
            here = posixpath.dirname(repository_path(self.hook.page))
            path = posixpath.normpath(posixpath.join(here, parts.path))
            page = site_page(path)
            anchor = f"#{parts.fragment}" if parts.fragment else ""
            if page is not None:
                # MkDocs knows whether there is such a page and such an anchor.
                start = posixpath.dirname(self.hook.page) or "."
                link.set("href", posixpath.relpath(page, start) + anchor)
            elif path.startswith("../") or not (ROOT / path).exists():
                log.warning("%s links to %s, which is not there", self.hook.page, path)
            elif self.hook.repository:
                kind = "tree" if (ROOT / path).is_dir() else "blob"
                link.set("href", f"{self.hook.repository}/{kind}/main/{path}{anchor}")
            else:
                show_as_path(link, path)


class RepositoryLinksExtension(Extension):
    """Tells the processor of links which page is rendered, and where the repository is."""

    def __init__(self, repository: str) -> None:
        super().__init__()
        self.repository = repository.rstrip("/")
        self.page = ""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the processor: after links are parsed (20), before MkDocs resolves them (0)."""
        md.treeprocessors.register(RepositoryLinks(md, self), "repository_links", 5)


_extension: RepositoryLinksExtension | None = None


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the processor of links to those that a page goes through, and give headings anchors."""
    global _extension
    _extension = RepositoryLinksExtension(config.repo_url or "")
    config.markdown_extensions.append(_extension)
    config.mdx_configs["toc"]["slugify"] = github_slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are files of the repository elsewhere than in docs/."""
    for page, path in PAGES.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Note which page is about to be rendered."""
    _extension.page = page.file.src_uri
    return markdown
