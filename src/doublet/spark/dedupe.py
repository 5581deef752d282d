"""The job `dedupe` over Spark: the same answer as `jobs.dedupe` on one machine, for any number of machines and parts.

Stages, each a folder of the output, written once and used again when the job is started again with the same settings:
signatures → counts → repeated-ids, equal-sets → shared → candidates, pairs → ranks, links → groups, kept, errors.
Explained in docs/explanation/spark.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from doublet.errors import UsageError
from doublet.jobs.dedupe.joining import EXACT_UP_TO
from doublet.jobs.dedupe.options import BY_SHINGLES, DedupeMethods, DedupeOptions, check_share
from doublet.progress import Progress
from doublet.signatures import METHODS
from doublet.sources.records import Fields
from doublet.spark import (
    answers,
    counting,
    crowd,
    deciding,
    deciding_here,
    exchange,
    inputs,
    pairing,
    related,
    roles,
    signing,
    stages,
    storage,
)
from doublet.spark.job import Job
from doublet.spark.order import Order
from doublet.spark.session import cores_of, shuffled_bytes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STAGES = ("signatures", "pairs", "groups", "kept")  #: at which a run can be told to stop
SPLITS_PER_CORE = 3
INSIDE = "pairs-inside"


@dataclass(frozen=True, slots=True)
class Deduped:
    """What a run wrote to *out*, in numbers."""

    out: str
    documents: int
    removed: int
    kept: int
    candidates: int
    pairs: int
    outcomes: Mapping[str, int]
    stages: Mapping[str, Any]  #: figures of each stage
    sent_bytes: int = 0  #: what tasks sent each other
    reused: tuple[str, ...] = ()  #: stages that an earlier run had finished

    def to_dict(self) -> dict[str, Any]:
        return {
            "out": self.out,
            "documents": self.documents,
            "removed": self.removed,
            "kept": self.kept,
            "candidates": self.candidates,
            "pairs": self.pairs,
            "outcomes": dict(self.outcomes),
            "sent_bytes": self.sent_bytes,
            "sent_bytes_per_document": round(self.sent_bytes / max(1, self.documents)),
            "stages": dict(self.stages),
            "reused": list(self.reused),
        }


def dedupe(
    spark: SparkSession,
    addresses: Sequence[str],
    out: str,
    *,
    method: str = "auto",
    threshold: float | None = None,
    containment: float | None = 0.9,
    keep: str = "longest",
    prefer: Sequence[str] = (),
    candidates: str = "auto",
    reworded: str | None = None,
    fields: Fields | None = None,
    max_record_bytes: int = 100_000_000,
    partitions: int | None = None,
    splits: int | None = None,
    crowd_pairs: int = pairing.MOST_PAIRS_OF_ONE,
    pairs_at_once: int = deciding_here.MOST_PAIRS,
    stop_after: str | None = None,
    restart: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> Deduped:
    """Duplicates of the collection at *addresses*, written to the folder *out*. The options are those of
    `doublet.dedupe`. Web pages are compared as with its ``frames=False``.

    *partitions* and *splits* say how the work is cut, *crowd_pairs* from how many pairs of one fingerprint or key on
    these are followed in rounds; the answer does not depend on them. *stop_after* one of `STAGES`;
    a later call goes on from there. *restart*: use nothing that an earlier run left in *out*.
    """
    progress = Progress.of(progress)
    options = DedupeOptions.check(
        method=method,
        parameters=parameters,
        containment=containment,
        keep=keep,
        prefer=prefer,
        pairs=False,
        views=(),
        candidates=candidates,
        reworded=reworded,
        workers=1,
    )
    if stop_after is not None and stop_after not in STAGES:
        raise UsageError("unknown_stage", stage=stop_after, known=", ".join(STAGES))
    if threshold is not None:
        parameters["threshold"] = check_share("threshold", threshold)
    cores = cores_of(spark)
    job = Job(
        out=storage.whole(out),
        method=method,
        parameters=parameters,
        fields=fields or Fields(),
        containment=options.containment,
        keep=keep,
        prefer=tuple(options.prefer),
        max_record_bytes=max_record_bytes,
        partitions=partitions or max(2, 2 * cores),
    )
    spark.conf.set("spark.sql.shuffle.partitions", str(job.partitions))
    before = shuffled_bytes(spark)
    run = stages.Run.open(
        job,
        addresses,
        splits or SPLITS_PER_CORE * cores,
        least_split=1 if splits else inputs.LEAST_SPLIT,
        restart=restart,
    )
    job = run.job
    signed = _sign(spark, run, progress)
    total = _total(signed)
    if stop_after == "signatures":
        answers.write_errors(spark, run, signed, progress)
        return _result(run, total)
    methods = (
        DedupeMethods.of(method, dict(parameters), None) if not METHODS[method].needs_statistics else None
    )
    threshold = methods.threshold if methods is not None else float(parameters.get("threshold", 0.5))
    job = replace(job, threshold=threshold)
    order = Order(keep, job.prefer, total["whole_ids"], total["number_times"])
    exact = candidates == "exact" or (candidates == "auto" and total["documents"] <= EXACT_UP_TO)
    by = ("shingles" if exact else "sketches") if method in BY_SHINGLES else "keys"
    run.depend([by, crowd_pairs])
    chosen, paired = _pair(spark, run, job, order, by, total, crowd_pairs, progress)
    answers.write_errors(spark, run, signed, progress)
    if stop_after == "pairs":
        return _result(run, total, paired)
    removed = _decide(spark, run, chosen, order, paired, total, options.reworded, pairs_at_once, progress)
    if stop_after == "groups":
        return _result(run, total, paired, removed)
    kept = run.stage(
        answers.KEPT,
        lambda: {
            "documents": sum(
                exchange.answers(exchange.begin(spark, run.splits, partial(answers.kept_split, job)))
            )
        },
        progress,
    )
    return _result(run, total, paired, removed, kept["documents"], shuffled_bytes(spark) - before)


def _sign(spark: SparkSession, run: stages.Run, progress: Progress) -> list[dict[str, Any]]:
    job = run.job
    if METHODS[job.method].needs_statistics if job.method in METHODS else False:
        from doublet.spark.statistics import gather

        run.stage("statistics", lambda: gather(spark, job, run.splits), progress)

    def work() -> dict[str, Any]:
        found = exchange.answers(exchange.begin(spark, run.splits, partial(signing.sign_split, job)))
        return {"splits": sorted(found, key=lambda one: int(one["split"]))}

    done: list[dict[str, Any]] = run.stage(signing.SIGNATURES, work, progress)["splits"]
    return done


def _total(signed: list[dict[str, Any]]) -> dict[str, Any]:
    sums = {name: sum(one[name] for one in signed) for name in ("documents", "values", "words", "disguised")}
    return {
        **sums,
        "outcomes": stages.count_outcomes(signed),
        "sampled": [sum(one["sampled"][bits] for one in signed) for bits in range(9)],
        "whole_ids": all(one["whole_ids"] for one in signed) and sums["documents"] > 0,
        "number_times": all(one["number_times"] for one in signed),
    }


def _pair(
    spark: SparkSession,
    run: stages.Run,
    job: Job,
    order: Order,
    by: str,
    total: dict[str, Any],
    crowd_pairs: int,
    progress: Progress,
) -> tuple[pairing.Pairing, dict[str, Any]]:
    splits = run.splits
    bits = counting.bits_for(total["values"])
    fingerprints = partial(counting.fingerprints, job)
    counted = run.stage(
        counting.COUNTS,
        lambda: counting.count(spark, job, counting.COUNTS, bits, splits, fingerprints),
        progress,
    )
    ids = run.stage(
        roles.IDS, lambda: {"documents": roles.find_roles(spark, job, roles.IDS, order, splits)}, progress
    )
    if by == "shingles":
        run.stage(
            roles.SETS,
            lambda: {"documents": roles.find_roles(spark, job, roles.SETS, order, splits)},
            progress,
        )
    chosen = pairing.Pairing(
        job,
        splits,
        counted["tables"],
        by,
        crowd_pairs=crowd_pairs,
        containers=job.keep != "longest" and bool(job.containment) and bool(ids["documents"]),
    )
    if by == "shingles":
        marks, shared = max(counting.LEAST_BITS, bits - 2), partial(pairing.share, chosen)
        found = run.stage(
            pairing.SHARED,
            lambda: counting.count(spark, job, pairing.SHARED, marks, splits, shared),
            progress,
        )
        chosen = replace(chosen, marks=found["tables"])
    else:
        run.stage(pairing.SHARED, lambda: _share(spark, chosen), progress)

    def pair() -> dict[str, Any]:
        found = pairing.find_pairs(spark, chosen)
        return {name: sum(one[name] for one in found) for name in ("candidates", "pairs")}

    return chosen, {**run.stage(pairing.PAIRS, pair, progress), "excluded": ids["documents"]}


def _decide(
    spark: SparkSession,
    run: stages.Run,
    chosen: pairing.Pairing,
    order: Order,
    paired: dict[str, Any],
    total: dict[str, Any],
    reworded: str,
    pairs_at_once: int,
    progress: Progress,
) -> dict[str, Any]:
    job = chosen.job
    inside = job.keep != "longest" and bool(job.containment)
    crowded = crowd.size_of_crowds(job)
    apart = inside and (chosen.by != "shingles" or crowded > 0)
    if apart:
        # Who lies inside a longer text is asked of all texts, whatever the method is; and all of a crowd.
        held = replace(
            chosen,
            job=replace(job, threshold=2.0),
            by="shingles",
            crowding=False,
            marks=0,
            shared=f"{pairing.SHARED}-inside",
        )
        run.stage(INSIDE, lambda: {"pairs": _inside(spark, held)}, progress)

    def links() -> dict[str, Any]:
        crowd.forget(job)
        storage.remove_folder(job.at(deciding.RANKS))
        if not crowded and not paired["pairs"]:
            return {"removed": 0, "crowded": 0, "rounds": 0}
        if not crowded and paired["pairs"] <= pairs_at_once:
            longer = (INSIDE if apart else pairing.PAIRS) if inside else None
            here = partial(deciding_here.decide_here, job, order, run.splits, longer)
            return {
                "removed": sum(exchange.answers(exchange.begin(spark, 1, here))),
                "crowded": 0,
                "rounds": 0,
            }
        pairs = deciding.pair_frame(spark, job, order)
        nodes = deciding.nodes_of(pairs)
        if crowded:
            nodes = nodes.union(crowd.member_frame(spark, job, order)).dropDuplicates(["number"])
        if paired["excluded"]:
            nodes = deciding.without_excluded(spark, job, nodes, run.splits)
        contained = None
        if inside:
            known = deciding.pair_frame(spark, job, order, (INSIDE,)) if apart else pairs
            held = known.where("inner_size < outer_size").where(
                f"common / inner_size >= {job.containment!r}D"
            )
            contained = held.selectExpr("inner_number as number").distinct()
        deciding.rank_nodes(job, nodes, contained)
        ranks, count = deciding.rank_frame(spark, job)
        found = [pairing.PAIRS]
        if crowded:
            crowd.rank_crowds(spark, job, ranks)
            found = crowd.compare_crowds(spark, chosen, order, ranks, count)
            pairs = deciding.pair_frame(spark, job, order, found)
        removed = deciding.decide(job, deciding.edge_frame(pairs, ranks, job), count)
        return {"removed": removed, "crowded": crowded, "rounds": len(found) - 1}

    linked = run.stage(deciding.LINKS, links, progress)
    if reworded != "off":
        follow = run.state["stages"].get(roles.SETS, {}).get("figures", {}).get("documents", 0)
        run.depend(reworded)

        def copies() -> dict[str, Any]:
            storage.remove_folder(job.at(related.REWORDED))
            return related.find_copies(
                spark,
                job,
                order,
                run.splits,
                sampled=total["sampled"],
                documents=total["documents"],
                alive=total["documents"] - linked["removed"] - paired["excluded"] - follow,
                reworded=reworded,
                inside=(INSIDE if apart else pairing.PAIRS) if inside else None,
            )

        run.stage(related.RELATED, copies, progress)
    else:
        storage.remove_folder(job.at(related.REWORDED))
    return run.stage(
        answers.GROUPS, lambda: {"removed": answers.write_groups(spark, job, run.splits)}, progress
    )


def _share(spark: SparkSession, chosen: pairing.Pairing) -> dict[str, Any]:
    exchange.answers(exchange.begin(spark, chosen.splits, partial(pairing.share_split, chosen)))
    return {}


def _inside(spark: SparkSession, held: pairing.Pairing) -> int:
    """Write the pairs in which a text lies inside a longer one."""
    count = held.job.partitions
    _share(spark, held)
    posted = exchange.begin(spark, held.splits, partial(pairing.post, held))
    led = exchange.then(posted, count, partial(pairing.lead, held))
    return sum(one["pairs"] for one in exchange.answers(pairing.compare_led(led, held, "-inside")))


def _result(
    run: stages.Run,
    total: dict[str, Any],
    paired: dict[str, Any] | None = None,
    removed: dict[str, Any] | None = None,
    kept: int = 0,
    sent: int = 0,
) -> Deduped:
    return Deduped(
        run.job.out,
        total["documents"],
        (removed or {}).get("removed", 0),
        kept,
        (paired or {}).get("candidates", 0),
        (paired or {}).get("pairs", 0),
        total["outcomes"],
        run.figures(),
        sent,
        tuple(run.reused),
    )
