"""What an encoder that was tuned to identify paraphrases says of pairs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch.nn import functional

from workflow_scripts.encoding.encoder_tokens import Tokens
from workflow_scripts.encoding.model_outputs import outputs


def probabilities(
    model: Any, tokens: Tokens, settings: dict[str, Any], device: str
) -> NDArray[np.float64]:
    """Return the probability of each pair that it is one of paraphrases, shape (pairs,).

    Args:
        model: in evaluation mode.
        tokens: of the pairs.
        settings: `batch` and `precision`.
        device: for torch.
    """
    values = np.empty(len(tokens.lengths))
    for items, answer in outputs(
        model, lambda items, _: tokens.batch(items), tokens.lengths, settings, device
    ):
        values[items] = functional.softmax(answer.logits.double(), dim=1)[:, 1].cpu().numpy()
    return values
