import torch

from workflow_scripts.nmt.randomness import derive, request_key, uniform


def split_mix(state: int) -> int:
    """SplitMix64 in Python's integers."""
    mask = 2**64 - 1
    state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ state >> 27) * 0x94D049BB133111EB & mask
    return state ^ state >> 31


def test_is_split_mix():
    key = -5
    counters = torch.arange(100)
    expected = [
        split_mix((key + (counter + 1) * 0x9E3779B97F4A7C15) % 2**64) for counter in range(100)
    ]
    assert [bits % 2**64 for bits in derive(torch.tensor(key), counters).tolist()] == expected


def test_numbers_are_uniform():
    numbers = uniform(torch.tensor(request_key(1, "sentence", 2)), torch.arange(100_000))
    assert 0 <= numbers.min() < numbers.max() < 1
    counts = torch.histc(numbers, bins=100, min=0, max=1)
    # 148.2 is the 0.999 quantile of chi-square with 99 degrees of freedom.
    assert float(((counts - 1000) ** 2 / 1000).sum()) < 148.2
