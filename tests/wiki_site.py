"""A small MediaWiki in memory: as much of its API as a source asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from source_shelf import Page

API = "https://wiki.test/w/api.php"
FRONT = "https://wiki.test/wiki/Main"


@dataclass
class Article:
    number: int
    title: str
    html: str = ""
    revision: int = 0
    redirect: bool = False
    categories: tuple[str, ...] = ()
    noindex: bool = False
    namespace: int = 0


@dataclass
class Wiki:
    articles: dict[int, Article]
    batch: int = 3
    now: str = "2026-03-01T00:00:00Z"
    modern: bool = True  #: answers in the second form of the API
    busy: int = 0  #: so many answers are "wait"
    changes: list[dict[str, Any]] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    knows_srwhat: bool = True
    asked: list[dict[str, str]] = field(default_factory=list)
    broken_pages: set[int] = field(default_factory=set)

    def __call__(self, address: str) -> Page:
        asked = dict(parse_qsl(urlsplit(address).query))
        self.asked.append(asked)
        if self.busy:
            self.busy -= 1
            body = {"error": {"code": "maxlag", "info": "Waiting for a database server: 7 seconds lagged"}}
            return Page(json.dumps(body).encode(), type="application/json", headers={"retry-after": "7"})
        return Page(json.dumps(self.answer(asked)).encode(), type="application/json")

    def answer(self, asked: dict[str, str]) -> dict[str, Any]:
        if asked.get("action") == "parse":
            return self.parse(int(asked["pageid"]))
        if asked.get("meta") == "siteinfo":
            general = {"generator": "MediaWiki 1.39", "server": "https://wiki.test", "script": "/w/index.php"}
            general |= {"articlepath": "/wiki/$1", "mainpage": "Main"}
            return {"curtimestamp": self.now, "query": {"general": general}}
        if asked.get("list") == "recentchanges":
            return {
                "query": {
                    "recentchanges": [one for one in self.changes if one["timestamp"] >= asked["rcend"]]
                }
            }
        if asked.get("list") == "logevents":
            return {"query": {"logevents": [one for one in self.log if one["timestamp"] >= asked["leend"]]}}
        if asked.get("list") == "categorymembers":
            members = [
                one
                for one in self.articles.values()
                if asked["cmtitle"] in one.categories and one.namespace == 14
            ]
            return {"query": {"categorymembers": [{"title": one.title} for one in members]}}
        if asked.get("gsrwhat") and not self.knows_srwhat:
            return {"error": {"code": "badvalue", "info": "Unrecognised value"}}
        return self.pages(asked)

    def pages(self, asked: dict[str, str]) -> dict[str, Any]:
        everything = sorted(self.articles.values(), key=lambda one: one.title)
        start = 0
        if "pageids" in asked:
            numbers = [int(one) for one in asked["pageids"].split("|")]
            return self.listed([self.about(self.articles.get(n), n) for n in numbers], {})
        if "titles" in asked:
            by_title = {one.title: one for one in everything}
            found = [by_title.get(title) for title in asked["titles"].split("|")]
            titles = asked["titles"].split("|")
            return self.listed(
                [self.about(one, 0, title) for one, title in zip(found, titles, strict=True)], {}
            )
        kind = asked.get("generator")
        if kind == "allpages":
            chosen = [
                one for one in everything if not one.redirect and one.namespace == int(asked["gapnamespace"])
            ]
        elif kind == "categorymembers":
            chosen = [one for one in everything if asked["gcmtitle"] in one.categories and one.namespace == 0]
        elif kind == "search":
            words = asked["gsrsearch"]
            text = asked.get("gsrwhat") == "text" or not self.knows_srwhat
            chosen = [one for one in everything if words in (one.html if text else one.title)]
        else:
            return {"error": {"code": "badvalue", "info": "what?"}}
        start = int(asked.get("start", 0))
        go = {"start": start + self.batch, "continue": "-||"} if start + self.batch < len(chosen) else {}
        return self.listed([self.about(one, one.number) for one in chosen[start : start + self.batch]], go)

    def about(self, one: Article | None, number: int, title: str = "") -> dict[str, Any]:
        if one is None:
            return (
                {"pageid": number, "missing": True} if number else {"title": title, "missing": True, "ns": 0}
            )
        revision = one.revision or one.number * 100
        page = {"pageid": one.number, "title": one.title, "ns": one.namespace, "lastrevid": revision}
        page |= {"canonicalurl": f"https://wiki.test/wiki/{one.title}"}
        page |= {"revisions": [{"revid": revision, "timestamp": "2026-02-01T00:00:00Z"}]}
        return page | ({"redirect": True} if one.redirect else {})

    def listed(self, pages: list[dict[str, Any]], go: dict[str, Any]) -> dict[str, Any]:
        got: dict[str, Any] = {
            "query": {"pages": pages if self.modern else {str(n): p for n, p in enumerate(pages)}}
        }
        return got | ({"continue": go} if go else {"batchcomplete": True})

    def parse(self, number: int) -> dict[str, Any]:
        one = self.articles.get(number)
        if one is None:
            return {"error": {"code": "nosuchpageid", "info": "There is no page with ID"}}
        if number in self.broken_pages:
            return {"error": {"code": "internal_api_error", "info": "Lua died"}}
        html = one.html or f"<p>Статья {one.title} рассказывает о библиотеках.</p>"
        text: Any = f'<div class="mw-parser-output">{html}</div>'
        properties: Any = {"noindex": ""} if one.noindex else {}
        if not self.modern:
            text, properties = {"*": text}, [{"name": "noindex", "*": ""}] if one.noindex else []
        return {
            "parse": {
                "pageid": number,
                "revid": one.revision or number * 100,
                "text": text,
                "properties": properties,
            }
        }


def wiki(number: int = 7, **more: Any) -> Wiki:
    return Wiki({n: Article(n, f"Page {n}") for n in range(1, number + 1)}, **more)
