"""What the elements and blocks of a page are, in bits: the words in which `doublet.text.signs` speaks to the kernel
`block_signs`. native/frame.cpp has the same."""

from __future__ import annotations

NAV, FOOTER, ASIDE, FORM, HEADER, ARTICLE, MAIN, TABLE, LIST, FIGURE, QUOTATION, CODE = (
    1 << place for place in range(12)
)
ROLE, NAMED_FRAME, NAMED_CONTENT, COMMENTS = (1 << place for place in range(12, 16))
INSIDE_BITS = 16  #: those above hold for what is inside, too
INHERITED = (1 << INSIDE_BITS) - 1
BESIDE = 1 << 16  #: has a name that things beside an article have
FRAME = 1 << 17  #: calls itself frame …
LAST = 1 << 18  #: … which is a footer or comments …
LISTED = 1 << 19  #: … or a table of contents
COMMENT_LIST = 1 << 20  #: is called comments and nothing else
NAMED_MENU, NAMED_SHARING, NAMED_TAGS, NAMED_BODY = (
    1 << place for place in (21, 22, 23, 28)
)  #: by a part of a name
NAMED_COMMENT, NAMED_CAPTION, NAMED_TEASER = (1 << place for place in (29, 30, 31))  #: of those near a block
KIND_SHIFT = 24  #: from there on, in four bits, the number of its kind, counted from one
KIND_MASK = 15
KINDS = ("h1", "h2", "h3", "p", "li", "tr", "td", "div", "pre", "figcaption", "dt", "h4-h6")

DATED, SPEAKS_OF_RIGHTS, SPEAKS_OF_COOKIES = 1, 2, 4  #: what a block says
MAY_BE_SMALL_PRINT = 8  #: a word of those that speak of rights or cookies is in it
FRAMED = 1  #: a block is in something that is called a menu, a footer …
MENU = 2  #: … which is not a table of contents
NEVER = 4  #: is in a footer or comments, or speaks of rights or cookies: not content, however it reads
