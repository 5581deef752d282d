"""Tables of a store. Bulk paths write them by plain SQL (`doublet.store.writing`); `jobs/` see no model.

The pages of a Django project may query them: names and times are what they seem (`doublet.store.fields`), although
names are stored escaped and times as seconds. The tables of postings are no models: they are contentless FTS5 tables on
SQLite and blocks of sorted postings on PostgreSQL, made by migrations.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from doublet.store.fields import EscapedJSONField, EscapedTextField, MomentField, SecondsField


def _given(column: str) -> models.Q:
    return models.Q(**{f"{column}__isnull": False})


KEEP = models.DO_NOTHING  # rows are deleted by `doublet.store.writing`, in its own order


class Library(models.Model):
    """A named set of documents. The counters are changed in the same transaction as the documents."""

    name = EscapedTextField(unique=True)
    address = EscapedTextField(default="")
    note = EscapedTextField(default="")
    created_at = SecondsField()
    changed_at = SecondsField()
    documents = models.BigIntegerField(default=0)
    words = models.BigIntegerField(default=0)
    size_bytes = models.BigIntegerField(default=0)  # of the texts as UTF-8
    changes = models.BigIntegerField(default=0)  # documents added and removed, ever
    outcomes = models.JSONField(default=dict)  # state → how many records ended so, ever

    class Meta:
        db_table = "doublet_library"


class Document(models.Model):
    """What lists show of a document. Its number is never used again; a changed document gets a new one."""

    library = models.ForeignKey(Library, KEEP, db_index=False)
    name = EscapedTextField()  # the user's id
    name_hash = models.BigIntegerField()
    title = EscapedTextField(default="")
    address = EscapedTextField(default="")
    time = EscapedTextField(default="")
    source = EscapedTextField(default="")
    hash = models.BinaryField()  # of the text as it is
    fold = models.BigIntegerField(
        db_index=True
    )  # of its words: equal for texts that differ in spelling tricks only
    words = models.IntegerField()
    characters = models.IntegerField()
    size_bytes = models.BigIntegerField()
    added_at = SecondsField()
    changed_at = SecondsField()

    class Meta:
        db_table = "doublet_document"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["library", "name_hash"], name="doublet_document_name")
        ]


class Content(models.Model):
    """The text, packed, and what was made from it. *keys* are exactly what went into the postings."""

    document = models.OneToOneField(Document, KEEP, primary_key=True)
    version = models.IntegerField()  # of words, hash and choice of keys
    dictionary = models.BigIntegerField()
    keys = models.BinaryField()
    bag = models.BinaryField()
    text = models.BinaryField()  # behind what is read without it
    stems = models.BinaryField(
        null=True
    )  # where those of the bag are filed (`doublet.store.stems`); null: not yet

    class Meta:
        db_table = "doublet_content"
        indexes: ClassVar = [
            models.Index(
                fields=["document"],
                name="doublet_content_unfiled",
                condition=models.Q(stems__isnull=True),
            )
        ]


class Dictionary(models.Model):
    """A zstd dictionary. Kept for ever: texts packed with it cannot be read without."""

    id = models.BigIntegerField(primary_key=True)
    kind = models.TextField()
    data = models.BinaryField()

    class Meta:
        db_table = "doublet_dictionary"


class Word(models.Model):
    """Numbers of the words in bags and statistics. Frequent words come early and have small numbers."""

    hash = models.BigIntegerField(unique=True)  # of the spelling
    fold = models.BigIntegerField()  # the hash of the kernels, which signatures are made of
    word = models.TextField()

    class Meta:
        db_table = "doublet_word"


class Statistics(models.Model):
    """Collection statistics of a library in parts: their sum counts. A change adds a part; now and then all parts are
    folded into one (`doublet.store.words`)."""

    library = models.ForeignKey(Library, KEEP)
    documents = models.BigIntegerField()
    data = models.BinaryField()

    class Meta:
        db_table = "doublet_statistics"


class Recipe(models.Model):
    """Signatures of one recipe over one library."""

    library = models.ForeignKey(Library, KEEP)
    digest = models.BinaryField()
    method = models.TextField()
    recipe = models.JSONField()
    settings = models.JSONField()  # what the keys depend on besides the recipe
    parameters = models.JSONField()  # as the user gave them
    statistics = models.BinaryField(null=True)  # what the method knows about the collection
    changes = models.BigIntegerField(default=0)  # of the library, when the statistics were taken
    documents = models.BigIntegerField(default=0)
    follows = models.BooleanField(default=False)  # true: every document of the library has an entry

    class Meta:
        db_table = "doublet_recipe"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["library", "digest"], name="doublet_recipe_digest")
        ]


class Entry(models.Model):
    """The signature of one document by one recipe. *keys* are exactly what went into the key postings."""

    recipe = models.ForeignKey(Recipe, KEEP, db_index=False)
    name = EscapedTextField()
    name_hash = models.BigIntegerField()
    size = models.BigIntegerField()
    values = models.BinaryField()
    keys = models.BinaryField()

    class Meta:
        db_table = "doublet_entry"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["recipe", "name_hash"], name="doublet_entry_name")
        ]


class Source(models.Model):
    """Where documents of a library come from, and how far the last walk of it got.

    *run* counts the walks; a document that a walk saw carries its number. A walk that was broken off after a checkpoint
    is taken up under the same number.
    """

    library = models.ForeignKey(Library, KEEP, db_index=False)
    kind = models.TextField()  # folder, file, sitemap, feed, oai, wiki, page
    address = EscapedTextField()
    options = EscapedJSONField(default=dict)
    key = models.BigIntegerField()  # of kind, address and options
    state = EscapedJSONField(default=dict)  # of the last checkpoint
    run = models.BigIntegerField(default=0)
    status = models.TextField(default="new")  # new, running, done, failed, cancelled
    resumable = models.BooleanField(default=False)  # a checkpoint was stored in the walk that is not over
    message = EscapedTextField(default="")
    outcomes = models.JSONField(default=dict)  # state → how many documents of the last walk ended so
    created_at = SecondsField()
    began_at = SecondsField(null=True)
    ended_at = SecondsField(null=True)
    owner = models.TextField(default="")  # of the walk that goes on (`doublet.store.leases`)
    lease_until = MomentField(null=True)

    class Meta:
        db_table = "doublet_source"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["library", "key"], name="doublet_source_key")
        ]


class Origin(models.Model):
    """A document as one source knows it, stored or not: what an update asks for before it fetches and reads."""

    source = models.ForeignKey(Source, KEEP, db_index=False)
    name = EscapedTextField()  # the id, escaped
    name_hash = models.BigIntegerField()
    part = models.BigIntegerField(null=True)  # hash of the table or archive that it stands in
    version = EscapedTextField(default="")
    etag = EscapedTextField(default="")
    modified = models.TextField(default="")
    run = models.BigIntegerField()  # the last walk that saw it
    state = models.TextField()  # stored, or why not
    reason = EscapedTextField(default="")
    twin = models.BigIntegerField(null=True)  # hash of the id of the document with the same words

    class Meta:
        db_table = "doublet_origin"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "name_hash"], name="doublet_origin_name")
        ]
        indexes: ClassVar = [
            models.Index(fields=["source", "part"], name="doublet_origin_part", condition=_given("part")),
            models.Index(fields=["twin"], name="doublet_origin_twin", condition=_given("twin")),
        ]


class Host(models.Model):
    """A host that robots ask, whatever library for. *next_at* is when it may be asked again, by the clock of the
    database; the lease is that of the one robot that may ask."""

    origin = models.TextField(unique=True)
    place = models.TextField(default="")  # IP number, once known: hosts of one machine take turns
    next_at = models.FloatField(default=0)
    owner = models.TextField(default="")
    lease_until = MomentField(null=True)

    class Meta:
        db_table = "doublet_host"
        indexes: ClassVar = [models.Index(fields=["place"], name="doublet_host_place")]


class Page(models.Model):
    """An address of the frontier of a crawled source: one row for each, whatever became of it.

    *state* and *reason* are numbers and codes of `doublet.store.frontier`. What the library knows of a document, its
    validators too, is its origin: *hash* is the name_hash of both.
    """

    source = models.ForeignKey(Source, KEEP, db_index=False)
    hash = models.BigIntegerField()  # of the key of the address
    host = models.ForeignKey(Host, KEEP, db_index=False)
    state = models.SmallIntegerField(default=0)
    priority = models.SmallIntegerField(default=0)  # the lowest comes first
    depth = models.SmallIntegerField(default=0)
    attempts = models.SmallIntegerField(default=0)
    pattern = models.SmallIntegerField(default=-1)  # number in the plan of the source; -1: none
    interval_s = models.IntegerField(null=True)
    next_try = models.BigIntegerField(null=True)  # when it is asked for again
    parent = models.BigIntegerField(null=True)  # page with the link
    target = models.TextField()  # path and query, as sent
    reason = models.TextField(default="")

    class Meta:
        db_table = "doublet_page"
        constraints: ClassVar = [models.UniqueConstraint(fields=["source", "hash"], name="doublet_page_key")]
        indexes: ClassVar = [
            models.Index(
                fields=["source", "host", "state", "priority"],
                name="doublet_page_open",
                condition=models.Q(state__lt=2),
            ),
            models.Index(
                fields=["source", "next_try"], name="doublet_page_due", condition=_given("next_try")
            ),
        ]


class Job(models.Model):
    """Work in the queue: what is asked for, who works on it, how far it is, what came of it (`doublet.store.jobs`)."""

    kind = models.TextField()
    parameters = EscapedJSONField(default=dict)
    library = EscapedTextField(
        default=""
    )  # a name and no key: the job may be the one that deletes the library
    asked_by = EscapedTextField(default="")
    priority = models.IntegerField(default=0)  # the highest comes first
    state = models.TextField(default="new")  # new, running, done, failed, cancelled
    run_after = MomentField()  # seconds since 1970, by the clock of the database, as is the lease
    lease_until = MomentField(null=True)
    owner = models.TextField(default="")
    attempts = models.IntegerField(default=0)
    max_attempts = models.IntegerField()
    cancel = models.BooleanField(default=False)
    stage = models.TextField(default="")
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    unit = models.TextField(default="")
    message = models.TextField(default="")  # a code
    facts = EscapedJSONField(default=dict)  # its values
    checkpoint = EscapedJSONField(default=dict)  # where the work can be taken up
    result = EscapedJSONField(null=True)
    key = EscapedTextField(null=True, unique=True)
    created_at = SecondsField()
    changed_at = SecondsField()
    began_at = SecondsField(null=True)
    ended_at = SecondsField(null=True)

    class Meta:
        db_table = "doublet_job"
        indexes: ClassVar = [
            models.Index(
                fields=["state", "priority", "id"],
                name="doublet_job_open",
                condition=models.Q(state__in=["new", "running"]),
            ),
            models.Index(fields=["ended_at"], name="doublet_job_ended", condition=_given("ended_at")),
        ]


class Report(models.Model):
    """An answer that was kept, whole (`doublet.store.reports`). Whose it is, is no business of the store."""

    kind = models.TextField()  # check, compare, ...
    state = models.TextField(default="ready")
    title = EscapedTextField(default="")
    search = EscapedTextField(default="")  # the title, folded
    share = models.FloatField(null=True)
    data = models.BinaryField()  # JSON, packed by zstd
    created_at = SecondsField()

    class Meta:
        db_table = "doublet_report"
        indexes: ClassVar = [models.Index(fields=["kind", "id"], name="doublet_report_kind")]


class Rebuild(models.Model):
    """An index of passages that is being made again beside the old one: the documents up to *upto* are in it."""

    upto = models.BigIntegerField(default=0)

    class Meta:
        db_table = "doublet_rebuild"
