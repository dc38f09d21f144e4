"""The search core: translation models, truncated sampling, beam search and scoring.

`loaders.load_model` reads a model folder. `sampling.sample`, `beam.translate` and `scoring.score`
stream requests through the model. `translate` and `score` are their command lines; `inspect`
tells what a folder is.
"""
