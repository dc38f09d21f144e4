"""The search core: Sockeye 3 models, top-k sampling, beam search and scoring (DESIGN 5).

`checkpoint.load_model` reads a model folder; `sampling.sample`, `beam.translate` and
`scoring.score` stream requests through it; `translate` and `score` are their command lines.
"""
