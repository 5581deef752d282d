"""Documents over the network, politely, and the rules of the robot.

`politeness` fetches, by way of `request` and `guard`; `robots` says what may be asked for. The rules take values and
give values, without a network and a database: `survey` makes a `plan` of a site, `judge` says what a fetched page is
and which links are worth a request, and the others are what these two go by. `doublet.jobs.crawl` joins both with the
store.
"""
