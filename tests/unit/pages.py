"""How tests read a page."""

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "img", "hr", "input", "link"}


class Reader(HTMLParser):
    """Collects what the tests ask of a page, and its faults of nesting."""

    def __init__(self, page):
        super().__init__()
        self.open, self.faults, self.tags, self.ids, self.references = [], [], [], [], []
        self.text = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data", "action", "srcset"):
                self.references.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append((tag, self.getpos()))

    def handle_data(self, data):
        self.text.append(data)


def captioned(page, caption):
    page = page[page.index(caption) :]
    return page[: page.index("</table>")]


def cells(row):
    """The text of a row's cells."""
    found = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
    return [re.sub(r"<[^>]*>", "", each) for each in found]


def rows_of(table):
    return [cells(row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
