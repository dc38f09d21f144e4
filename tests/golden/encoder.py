"""A fixed input of the stage `encoder`, and what it makes of it."""

import json
from pathlib import Path

import torch

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import EncoderPairRow, PairRow, StsPairRow, TrainingPairRow
from workflow_scripts.encoding.embedding import save
from workflow_scripts.encoding.parts import Parts, empty_network
from workflow_scripts.encoding.tokens import Words
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.encoder import identification_pairs as encoder_pairs
from workflow_scripts.stages.encoder import identify, masked


def embedding(folder: Path, texts: list[str]) -> Path:
    """Write an embedding of words with numbers that follow from their places; return its folder."""
    words = Words(sorted({word for text in texts for word in text.lower().split()}))
    config = {"encoders": ["word"], "tokens": ["words"], "dimension": 6, "hidden": 6}
    config["combine"] = "concatenate"
    network = empty_network(config, {"words": words})
    weights = network.tables[0]
    numbers = torch.arange(weights.numel()).view_as(weights)
    with torch.no_grad():
        weights.copy_((numbers * 7 % 23).float() / 8 - 1)
    folder.mkdir()
    files = save(folder, Parts(config, {"words": words}, network))
    write_record(folder / "model", 0, 0, {}, files=files)
    return folder


def outputs(folder: Path) -> Outputs:
    """Pairs with a tested sentence among them; a masked model from scratch, and it tuned."""
    texts = [row["reference"] for row in pairs("train", 80)]
    rows = [
        {"id": f"train:{number}", "reference": one, "paraphrase": other}
        for number, (one, other) in enumerate(zip(texts[::2], texts[1::2], strict=True))
    ]
    training = write_table(folder / "pairs.parquet", TrainingPairRow, rows)
    tested = {"data_set": "a", "group": "a", "score": 1.0, "first": texts[0], "second": "-"}
    evaluation = write_table(folder / "evaluation.parquet", StsPairRow, [tested])
    model = embedding(folder / "embedding", texts)
    settings = {"sentences": ["reference", "paraphrase"], "held_out": 0.2, "seed": 1}
    settings["negatives"] = defaults("encoder_negatives")
    made = folder / "made"
    options = {"pairs": training, "evaluation": evaluation, "embedding": model, "output": made}
    encoder_pairs.main(arguments(settings, **options))
    found: Outputs = {
        "train": table(made / "train.parquet", EncoderPairRow),
        "dev": table(made / "dev.parquet", EncoderPairRow),
        "pairs_record": counts(made / "pairs.json"),
    }
    write_table(folder / "0000.parquet", PairRow, pairs("train", 80))
    sizes = {"vocab_size": 60, "layers": 1, "hidden": 8, "heads": 2, "feed_forward": 16}
    scratch = defaults("encoder_scratch") | sizes | {"held_out": 0.1}
    scratch["training"] = defaults("scratch_training") | {"epochs": 1, "batch": 16}
    common = {"device": "cpu", "work": folder / "work"}
    beginning = folder / "beginning"
    options = {"folder": folder, "shards": 1, "evaluation": evaluation}
    masked.main(arguments({"scratch": scratch, "seed": 1}, **options, **common, output=beginning))
    tuning = {"training": defaults("encoder_training") | {"epochs": 1, "batch": 16}}
    tuning |= {"max_tokens": 64, "seed": 1}
    tuned = folder / "tuned"
    common["work"] = folder / "tuning"
    identify.main(arguments(tuning, base=beginning, pairs=made, **common, output=tuned))
    for name in ("beginning", "tuned"):
        text = (folder / name / "metrics.json").read_text(encoding="utf-8")
        metrics = json.loads(text)
        # Measures of a model that has learnt nothing may jump where a last digit differs.
        found[name] = {
            "counts": {key: value for key, value in metrics.items() if isinstance(value, int)},
            "losses": [each["loss"] for each in metrics["history"]],
        }
    return found
