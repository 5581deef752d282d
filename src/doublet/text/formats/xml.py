"""DocBook, DITA and other XML.

For DocBook and DITA it is known what is a paragraph and what only stands inside one; notes follow their
paragraph. In XML of an unknown kind an element is a block when its parent has no text of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from doublet.text.formats.package import Element, local, parse_document
from doublet.text.formats.protocol import Builder, Hints, Reading

# Inside a paragraph; everything else that holds text is a block.
_INLINE = {
    "docbook": frozenset(
        "abbrev acronym anchor application author citation citetitle classname code command computeroutput "
        "constant date email emphasis envar errorname exceptionname filename firstterm foreignphrase function "
        "guibutton guiicon guilabel guimenu guimenuitem guisubmenu hardware inlineequation inlinemediaobject "
        "interfacename keycap keycode keycombo keysym link literal manvolnum markup mathphrase medialabel "
        "menuchoice methodname mousebutton olink option optional orgname package parameter personname firstname "
        "surname honorific othername phrase productname productnumber prompt property quote refentrytitle "
        "remark replaceable returnvalue sgmltag shortcut structfield structname subscript superscript "
        "symbol systemitem tag termdef token trademark type ulink uri userinput varname wordasword xref".split()
    ),
    "dita": frozenset(
        "abbreviated-form alt apiname b boolean cite cmdname codeph data draft-comment filepath fn i image "
        "indexterm keyword line-through menucascade msgnum msgph numcharref option overline parameterentity "
        "parmname ph q shortcut state sub sup synph systemoutput term text textentity tm tt u uicontrol "
        "userinput varname wintitle xmlatt xmlelement xmlnsname xmlpi xref".split()
    ),
}
_SKIPPED = {
    "docbook": frozenset(
        "indexterm index toc lot tocchap colspec spanspec areaspec imageobject videoobject audioobject "
        "imagedata revhistory keywordset subjectset legalnotice copyright date releaseinfo pubdate edition "
        "biblioid isbn issn volumenum titleabbrev remark".split()
    ),
    "dita": frozenset("prolog metadata indexterm data draft-comment required-cleanup colspec image".split()),
    "xml": frozenset({"script", "style", "binary", "teiHeader"}),
}
_VERBATIM = frozenset("programlisting screen literallayout synopsis pre codeblock msgblock lines".split())
_NOTES = frozenset({"footnote", "fn"})
_INLINE_NOTES = frozenset(
    {"footnote", "fn", "note"}
)  # in XML of another kind: when it stands inside a sentence
_ROWS = frozenset({"row", "strow", "sthead", "tr"})
_HEADERS = frozenset("front article-meta title-group teiHeader fileDesc titleStmt head metadata".split())
_TITLE_DEPTH = 5
_TITLE_ELEMENTS = 50
_DESCRIPTION = frozenset({"info", "articleinfo", "bookinfo", "chapterinfo", "sectioninfo", "refentryinfo"})


@dataclass(slots=True)
class _State:
    kind: str
    build: Builder
    paragraph: int = 0
    notes: list[Element] = field(default_factory=list)
    mixed: dict[Element, bool] = field(
        default_factory=dict
    )  #: whether an element has words beside its children


def read(data: bytes, hints: Hints) -> Reading:
    root, encoding = parse_document(data, charset=hints.charset)
    kind = hints.kind if hints.kind in _SKIPPED else "xml"
    state = _State(kind, Builder(hints.characters))
    state.build.offer_title(_title(state, root), heading=True)
    state.notes = []
    _block(state, root)
    return state.build.done(encoding)


def _title(state: _State, root: Element) -> str:
    """The title of the whole: not deeper than descriptions keep it, before those of the parts."""
    level = [root]
    for _ in range(_TITLE_DEPTH):
        level = [child for element in level for child in element if local(child)][:_TITLE_ELEMENTS]
        for element in level:
            if local(element) in ("title", "article-title", "book-title", "docTitle"):
                return _words(state, element)
        described = [element for element in level if local(element) in _DESCRIPTION | _HEADERS]
        level = described or level[:1]
    return ""


def _block(state: _State, element: Element) -> None:
    tag = local(element)
    if not tag or tag in _SKIPPED[state.kind]:
        return
    if tag in _ROWS and state.kind != "xml":
        cells = [_words(state, cell) for cell in element if local(cell)]
        _add(state, element, "\t".join(cells), "table")
        return
    if tag in _DESCRIPTION:
        for child in element:
            if local(child) in ("title", "subtitle", "abstract"):
                _block(state, child)
        return
    if tag in _VERBATIM:
        _add(state, element, _raw(state, element), tag)
        return
    # A block may hold text, inline elements and further blocks in turn.
    pieces = [element.text or ""]
    for child in element:
        if not local(child) or local(child) in _SKIPPED[state.kind]:
            pieces.append(child.tail or "")
            continue
        if _is_inline(state, child):
            pieces.append(_inline(state, child))
        else:
            _add(state, element, " ".join("".join(pieces).split()), tag)
            pieces = []
            _block(state, child)
        pieces.append(child.tail or "")
    _add(state, element, " ".join("".join(pieces).split()), tag)


def _add(state: _State, element: Element, text: str, tag: str) -> None:
    if text.strip():
        state.paragraph += 1
        state.build.add(text, paragraph=state.paragraph, line=element.sourceline, element=tag)
    notes, state.notes = state.notes, []
    for note in notes:
        words = _words(state, note)
        if words:
            state.build.add(words, line=note.sourceline, element="footnote")


def _is_inline(state: _State, element: Element) -> bool:
    tag = local(element)
    if tag in _NOTES:
        return True
    known = _INLINE.get(state.kind)
    if known is not None:
        return tag in known
    parent = element.getparent()
    if parent is None:
        return False
    found = state.mixed.get(parent)
    if found is None:
        beside = [parent.text, *(child.tail for child in parent)]
        found = state.mixed[parent] = any(text and text.strip() for text in beside)
    return found


def _inline(state: _State, element: Element) -> str:
    tag = local(element)
    if tag in _NOTES or (tag in _INLINE_NOTES and state.kind == "xml"):
        state.notes.append(element)
        return ""
    if not tag or tag in _SKIPPED[state.kind]:
        return ""
    parts = [element.text or ""]
    for child in element:
        parts.append(_inline(state, child))
        parts.append(child.tail or "")
    return "".join(parts)


def _words(state: _State, element: Element) -> str:
    """All words of an element, blocks set apart by blanks."""
    parts = [element.text or ""]
    for child in element:
        tag = local(child)
        if tag and tag not in _SKIPPED[state.kind]:
            inline = tag not in _NOTES and _is_inline(state, child)
            if tag in _NOTES:
                state.notes.append(child)
            else:
                parts.append(_words(state, child) if inline else f" {_words(state, child)} ")
        parts.append(child.tail or "")
    text = "".join(parts)
    lead, trail = text[:1].isspace(), text[-1:].isspace()
    return f"{' ' if lead else ''}{' '.join(text.split())}{' ' if trail and text.strip() else ''}"


def _raw(state: _State, element: Element) -> str:
    return _inline_all(state, element).strip("\n")


def _inline_all(state: _State, element: Element) -> str:
    parts = [element.text or ""]
    for child in element:
        tag = local(child)
        if tag and tag not in _SKIPPED[state.kind]:
            parts.append(_inline_all(state, child))
        parts.append(child.tail or "")
    return "".join(parts)
