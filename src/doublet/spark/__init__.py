"""The same jobs over Apache Spark, for collections that do not fit one machine (D1).

Tasks read splits of the input with `doublet.sources`, run the same kernels on batches, and send each other packed
arrays. See docs/explanation/spark.md. Nothing here is imported by ``import doublet``.
"""
