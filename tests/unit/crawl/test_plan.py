"""A plan is kept in the database and read by later versions."""

from doublet.crawl.plan import Plan


def test_a_plan_of_an_earlier_version_is_read() -> None:
    plan = Plan("http://site.example/", counted=[0, 2], numbers=(1, 60))
    kept = plan.to_dict()
    assert Plan.from_dict(kept) == plan
    kept["walks"] = kept.pop("counted")
    assert Plan.from_dict(kept) == plan
