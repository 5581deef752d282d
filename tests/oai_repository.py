"""A small OAI-PMH repository in memory, with the faults that real ones have as switches."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from source_shelf import Page

BASE = "https://repo.test/oai"


@dataclass
class Item:
    number: int
    stamp: str
    set: str = "theses"
    deleted: bool = False
    fields: dict[str, list[str]] = field(default_factory=dict)

    @property
    def identifier(self) -> str:
        return f"oai:repo.test:{self.number}"


@dataclass
class Repository:
    items: list[Item]
    batch: int = 3
    granularity: str = "YYYY-MM-DDThh:mm:ssZ"
    date: str = "2026-06-01T12:00:00Z"
    forgets_set: bool = False
    in_order: bool = True
    tokens_last: int = 10**9  #: requests after which each token is forgotten
    breaks_records: bool = False  #: ListRecords is XML that nobody can read
    prefix: str = "oai_dc"
    asked: list[dict[str, str]] = field(default_factory=list)
    namespace: bool = True
    age: dict[str, int] = field(default_factory=dict)

    def __call__(self, address: str) -> Page:
        asked = dict(parse_qsl(urlsplit(address).query, keep_blank_values=True))
        self.asked.append(asked)
        verb = asked.get("verb", "")
        if verb == "Identify":
            return self.page(
                f"<Identify><repositoryName>Repo</repositoryName><granularity>{self.granularity}</granularity></Identify>"
            )
        if verb == "ListMetadataFormats":
            inner = f"<metadataFormat><metadataPrefix>{self.prefix}</metadataPrefix></metadataFormat>"
            return self.page(f"<ListMetadataFormats>{inner}</ListMetadataFormats>")
        if verb == "GetRecord":
            found = [item for item in self.items if item.identifier == asked["identifier"]]
            if not found:
                return self.error("idDoesNotExist")
            return self.page(f"<GetRecord>{self.record(found[0])}</GetRecord>")
        if verb in ("ListRecords", "ListIdentifiers"):
            return self.listed(verb, asked)
        return self.error("badVerb")

    def listed(self, verb: str, asked: dict[str, str]) -> Page:
        cursor, token = 0, asked.get("resumptionToken")
        if token is not None:
            if "cursor=" not in unquote(token):
                return self.error("badResumptionToken")
            self.age[token] = self.age.get(token, 0)
            if len(self.asked) - self.age.pop(token, 0) > self.tokens_last or token not in self.given:
                return self.error("badResumptionToken")
            asked = dict(parse_qsl(unquote(token)))
            cursor = int(asked.pop("cursor"))
        elif asked.get("metadataPrefix") != self.prefix:
            return self.error("cannotDisseminateFormat")
        chosen = self.chosen(asked, ignore_set=token is not None and self.forgets_set)
        if not chosen:
            return self.error("noRecordsMatch")
        write = self.record if verb == "ListRecords" else self.header
        inner = "".join(write(item) for item in chosen[cursor : cursor + self.batch])
        if verb == "ListRecords" and self.breaks_records:
            inner += "<record><header>"
        if cursor + self.batch < len(chosen):
            kept = {name: value for name, value in asked.items() if name not in ("verb", "resumptionToken")}
            text = "&".join(
                f"{name}={value}" for name, value in (kept | {"cursor": cursor + self.batch}).items()
            )
            made = quote(text, safe="")  # encoded already, as pyoai does it: it must be encoded again
            self.given[made] = len(self.asked)
            self.age[made] = len(self.asked)
            inner += f"<resumptionToken>{made}</resumptionToken>"
        else:
            inner += "<resumptionToken/>"
        return self.page(f"<{verb}>{inner}</{verb}>")

    def __post_init__(self) -> None:
        self.given: dict[str, int] = {}

    def chosen(self, asked: dict[str, str], *, ignore_set: bool) -> list[Item]:
        begin, end = asked.get("from", ""), asked.get("until", "9")
        found = [
            item
            for item in self.items
            if item.stamp >= begin
            and item.stamp[: len(end)] <= end
            and (ignore_set or "set" not in asked or item.set == asked["set"])
        ]
        return sorted(found, key=lambda item: item.stamp) if self.in_order else found

    def header(self, item: Item) -> str:
        status = ' status="deleted"' if item.deleted else ""
        return (
            f"<header{status}><identifier>{item.identifier}</identifier><datestamp>{item.stamp}</datestamp>"
            f"<setSpec>{item.set}</setSpec></header>"
        )

    def record(self, item: Item) -> str:
        if item.deleted:
            return f"<record>{self.header(item)}</record>"
        fields = item.fields or {
            "title": [f"Документ {item.number}"],
            "description": [f"Аннотация документа {item.number}, слово за словом."],
        }
        inner = "".join(f"<dc:{n}>{escape(v)}</dc:{n}>" for n, values in fields.items() for v in values)
        return (
            f'<record>{self.header(item)}<metadata><oai_dc:dc xmlns:oai_dc="http://oai" xmlns:dc="http://dc">'
            f"{inner}</oai_dc:dc></metadata></record>"
        )

    def error(self, code: str) -> Page:
        return self.page(f'<error code="{code}">no</error>')

    def page(self, inner: str) -> Page:
        space = ' xmlns="http://www.openarchives.org/OAI/2.0/"' if self.namespace else ""
        text = (
            f'<?xml version="1.0" encoding="UTF-8"?><OAI-PMH{space}><responseDate>{self.date}</responseDate>'
            f"<request>{BASE}</request>{inner}</OAI-PMH>"
        )
        return Page(text.encode(), type="text/xml")


def some(number: int, **more: object) -> list[Item]:
    return [Item(n, f"2026-01-{n % 28 + 1:02d}T00:00:{n % 60:02d}Z", **more) for n in range(number)]  # type: ignore[arg-type]
