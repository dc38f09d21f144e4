"""What a run selects from the catalogues of its configuration: corpora, roles, bitext, shards.

Stages share these facts, so they are functions of the configuration and belong to no stage.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.paths import Located
from workflow_scripts.core.text.entities import UNESCAPE
from workflow_scripts.plan.catalogues import judges
from workflow_scripts.plan.catalogues.encoder_entries import encoders
from workflow_scripts.plan.catalogues.encoder_tasks import tested_encoders
from workflow_scripts.plan.catalogues.lexicons import lexicons
from workflow_scripts.plan.catalogues.merges import without_bitext
from workflow_scripts.plan.catalogues.model_blocks import UNKNOWN, as_trained_here
from workflow_scripts.plan.catalogues.pair_features import KNOWN_WORDS, REFERENCE_NLLS, needs
from workflow_scripts.plan.catalogues.rewriters import model_name, rewriter_models, rewriters
from workflow_scripts.plan.catalogues.written_sources import main_role
from workflow_scripts.plan.config import FILTER_ROLES, MAIN_ROLES, Config

# A stage, or one instance of it: a corpus, a role of a model, a system ...
Unit = tuple[str, str | None]


def role_model_name(config: Config, role: str) -> str:
    """Return the entry of `models` that a role takes."""
    return rewriter_models(config).get(role) or config["train"]["models"][main_role(role)]


def role_model(config: Config, role: str) -> dict[str, Any]:
    """Return the block of `models` that a role takes."""
    return config["models"][role_model_name(config, role)]


def taken_over(config: Config, role: str) -> bool:
    """Tell whether the model of a role is taken over without a look at any training text."""
    return role in rewriter_models(config) or not as_trained_here(role_model(config, role))


def training_corpora(config: Config) -> list[str]:
    """Return the corpora that the models are trained on; none if no model is trained."""
    if all(taken_over(config, role) for role in roles(config)):
        return []
    return config["train"]["corpora"] or config["run"]["corpora"]


def main_training_corpora(config: Config) -> list[str]:
    """Return those of them that train the run's own models, and not the filter's alone."""
    block, corpora = config["dual_filter"], training_corpora(config)
    if not (block["enabled"] and block.get("trusted_train") == "filter"):
        return corpora
    return [name for name in corpora if not config["corpora"][name].get("trusted")]


def dev_corpus(config: Config, role: str) -> str | None:
    """Return the corpus that stops the training of a role's model early."""
    own = config["dual_filter"].get("dev") if role in FILTER_ROLES else None
    return config["train"]["dev"] if own is None else own


def measured_corpora(config: Config) -> list[str]:
    """Return the corpora that models are measured on, and never trained: test, then dev.

    Where no model is trained, dev has no use.
    """
    if without_bitext(config):
        return []
    trained = [role for role in roles(config) if not taken_over(config, role)]
    devs = [config["train"]["dev"]] if trained else []
    devs += [dev_corpus(config, role) for role in trained]
    names = [config["train"]["test"], *devs]
    return list(dict.fromkeys(name for name in names if name is not None))


def seen_corpora(config: Config) -> list[str]:
    """Return the corpora whose references the model of role forward or backward has seen."""
    seen: list[str] = []
    for role in MAIN_ROLES:
        block = role_model(config, role)
        if as_trained_here(block):
            seen += main_training_corpora(config)
        elif (known := block.get("trained_on", UNKNOWN)) != UNKNOWN:
            seen += known
    return list(dict.fromkeys(seen))


def punctuation(config: Config) -> dict[str, str]:
    """Return what `evaluate.punctuation` adds to the settings of a unit that counts words.

    Nothing where punctuation is dropped: the names of existing folders follow from the settings.
    """
    said = config["evaluate"].get("punctuation", "dropped")
    return {} if said == "dropped" else {"punctuation": said}


def knows_all_seen(config: Config) -> bool:
    """Tell whether it is known of both of these models what they have seen."""
    blocks = [role_model(config, role) for role in MAIN_ROLES]
    return all(
        as_trained_here(block) or block.get("trained_on", UNKNOWN) != UNKNOWN for block in blocks
    )


def used(config: Config) -> Config:
    """Return a configuration without what its run does not use.

    These are corpora, models, systems, judges, rewriters, lexicons, and encoders with their tasks.
    """
    entries = {
        "corpora": set(corpora(config)),
        "models": set() if without_bitext(config) else set(config["train"]["models"].values()),
        "rewriters": set(rewriters(config)),
        "lexicons": set(lexicons(config)),
        "encoders": set(encoders(config)),
        "systems": set(config["run"]["systems"]),
        "judges": set(judges.judges(config)),
    }
    entries["models"] |= {model_name(config, name) for name in rewriters(config)}
    return {
        key: {name: block for name, block in value.items() if name in entries[key]}
        if key in entries
        else value
        for key, value in config.items()
        if key != "encoder_tasks" or tested_encoders(config)
    }


def stated_licence(config: Config) -> str | None:
    """Return the licence that a run states, or those of its corpora; None if one is not known."""
    if config["release"]["licence"]:
        return config["release"]["licence"]
    blocks = [config["corpora"][name] for name in config["run"]["corpora"]]
    stated = [block.get("licence", "cc0-1.0" if "testbed" in block else None) for block in blocks]
    # Only its user knows the licence of any other bitext.
    return "; ".join(dict.fromkeys(stated)) if stated and all(stated) else None


def generate_corpora(config: Config) -> list[str]:
    """Return the corpora whose references are paraphrased."""
    return config["generate"]["corpora"] or config["run"]["corpora"]


def trusted_corpora(config: Config) -> list[str]:
    """Return the corpora of the run that are clean and are never filtered."""
    return [name for name in config["run"]["corpora"] if config["corpora"][name].get("trusted")]


def corpora(config: Config) -> list[str]:
    """Return all corpora of a run in the order of their priority.

    Of duplicates the first survives. Measured corpora come first, so that none of their pairs is
    trained on. Trusted ones come before others, so that no pair of theirs is doubted.
    """
    run, training = config["run"], training_corpora(config)
    held_out = [name for name in run["corpora"] if training and name not in training]
    names = [*measured_corpora(config), *held_out, *trusted_corpora(config), *run["corpora"]]
    return list(dict.fromkeys(names))


def roles(config: Config) -> list[str]:
    """Return the roles of the models that a run needs."""
    if without_bitext(config):
        return []
    return [*MAIN_ROLES, *(FILTER_ROLES if config["dual_filter"]["enabled"] else ())]


def model_roles(config: Config) -> list[str]:
    """Return the roles of all models: those of `roles`, and of finished models as rewriters."""
    return [*roles(config), *rewriter_models(config)]


def pairs(config: Config) -> Unit:
    """Return the unit with the bitext for training: cleaned, and filtered where that is enabled."""
    return ("dual_filter", "kept") if config["dual_filter"]["enabled"] else ("clean", None)


def parsed(config: Config) -> bool:
    """Tell whether sentences are parsed."""
    return config["evaluate"]["syntax"] is not None


def reference_scores(config: Config) -> bool:
    """Tell whether the references themselves are scored, as their candidates are."""
    bounds = (config["systems"][name]["select"]["keep"] for name in config["run"]["systems"])
    # Configurations of earlier runs lack the key.
    return (
        config["evaluate"].get("reference_scores") is True
        or any(keep.get("reference_quantile") is not None for keep in bounds)
        or needs(config, *REFERENCE_NLLS)
        or judges.need(config, *REFERENCE_NLLS)
    )


def known_words(config: Config) -> bool:
    """Tell whether the words that references hold are collected."""
    return needs(config, KNOWN_WORDS) or judges.need(config, KNOWN_WORDS)


def early_shards(config: Config, late: str) -> list[str]:
    """Return the names of the early shards that make up the late shard `late`."""
    shards = config["shards"]
    size = shards["early"] // shards["late"]
    first = int(late) * size
    return [f"{shard:04d}" for shard in range(first, first + size)]


def unescaping(config: Config) -> dict[str, bool]:
    """Return the setting of units before `clean` that tells whether it unescapes HTML entities.

    Left out where it does not: the names of existing folders follow from the settings.
    """
    return {"unescapes": True} if config["clean"].get("entities") == UNESCAPE else {}


def located(config: Config, paths: list[str]) -> list[Located]:
    """Return paths of the user's files: relative ones begin with the data folder."""
    data = Path(config["data"])
    return [Located(data / path, data) for path in paths]
