"""Sentences damaged in the ways in which generated ones go wrong: the negatives of the classifier.

Nothing here knows a language. What is swapped for what is read off the sentences themselves: words
that share a stem, the most frequent short words, words that follow each other somewhere.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from workflow_scripts.core.seeding import generator
from workflow_scripts.core.text.letters import (
    capitalised,
    like,
    omitted,
    repeated,
    replaced,
    swapped,
)
from workflow_scripts.stages.judge.grammar.known_tokens import is_word, normal

# How many of the most frequent short words are function words, and how long those are at most.
_FUNCTION_WORDS, _SHORT = 60, 5
# Forms of a stem: how often a word must be seen, how many letters may differ, how many forms are
# kept of a word.
_FORM_COUNT, _SUFFIX, _FORMS = 4, 3, 8
_FOLLOWERS = 40
# How many of the most frequent words have alike words, which stand among the same neighbours, and
# how many each has.
_COMPARED, _ALIKE = 400, 10
# A word replaces another one only if it is expected this much less often between its neighbours.
_LESS_EXPECTED = 0.3
# What is added to the count of two neighbours.
_UNSEEN = 0.05
_FARTHEST = 5
_LONGEST_REPEAT = 4
# Tries to damage a sentence before it is given up.
_TRIES = 8
# The share of the names that are replaced, and the fewest letters of a name that made-up ones are
# made of.
_RENAMED, _NAME = 0.4, 4
# A sentence gets one more damage for each of this many tokens.
_TOKENS_PER_DAMAGE = 30

APOSTROPHE = "'"
# Stands before the first token and after the last one.
_EDGE = ""


class Damaged(NamedTuple):
    """A damaged sentence.

    Attributes:
        tokens: what it consists of.
        wrong: for each token, and for the end of the sentence, whether something is wrong there;
            one longer than `tokens`.
        kinds: what was done to it.
    """

    tokens: list[str]
    wrong: list[bool]
    kinds: tuple[str, ...]


class _Draft:
    """Tokens that are worked on, and for each whether it is wrong; the last mark is the end's."""

    def __init__(self, tokens: Sequence[str]):
        self.tokens = list(tokens)
        self.wrong = [False] * (len(tokens) + 1)

    def replace(self, start: int, stop: int, new: Sequence[str]) -> None:
        """Replace tokens by `new`, and mark these; if `new` is empty, mark what follows."""
        self.tokens[start:stop] = new
        self.wrong[start:stop] = [True] * len(new)
        if not new:
            self.wrong[start] = True


class _Draws:
    """Uniform numbers of one sentence, drawn many at once."""

    def __init__(self, random: np.random.Generator):
        self._random, self._numbers, self._next = random, random.random(32).tolist(), 0

    def fraction(self) -> float:
        if self._next == len(self._numbers):
            self._numbers, self._next = self._random.random(32).tolist(), 0
        self._next += 1
        return self._numbers[self._next - 1]

    def below(self, bound: int) -> int:
        return int(self.fraction() * bound)


class _Choice:
    """Things to choose from, by their weights."""

    def __init__(self, weights: dict[str, float]):
        self.things = list(weights)
        self._ends = np.cumsum(list(weights.values()))

    def __len__(self) -> int:
        return len(self.things)

    def draw(self, draws: _Draws) -> str:
        return self.things[int(np.searchsorted(self._ends, draws.fraction() * self._ends[-1]))]


_Operation: TypeAlias = Callable[[_Draft, _Draws], bool]


class _Counts:
    """What is counted in a corpus, of words in their normal form.

    Attributes:
        words: how often each word stands there.
        inner: the same without the first words of sentences.
        capitals: how often each of these is written with a capital.
        followers: how often each word follows another one, by that one; `_EDGE` is at both ends.
        contractions: how often two words stand around an apostrophe.
    """

    def __init__(self, sentences: Iterable[Sequence[str]]):
        self.words: Counter[str] = Counter()
        self.inner: Counter[str] = Counter()
        self.capitals: Counter[str] = Counter()
        self.followers: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.contractions: Counter[tuple[str, str]] = Counter()
        for sentence in sentences:
            words = [normal(token) for token in sentence]
            self.words.update(words)
            # Not the first: whether it is a name can't be seen there.
            self.inner.update(words[1:])
            self.capitals.update(normal(token) for token in sentence[1:] if token[0].isupper())
            for left, right in pairwise([_EDGE, *words, _EDGE]):
                self.followers[left][right] += 1
            for left, mark, right in zip(words, words[1:], words[2:], strict=False):
                if mark == APOSTROPHE and is_word(left) and is_word(right):
                    self.contractions[left, right] += 1

    def names(self) -> set[str]:
        """Return the words that mostly have a capital."""
        return {word for word, count in self.capitals.items() if 2 * count > self.inner[word]}


class Damager:
    """Damages sentences with what it has read off a corpus.

    Args:
        sentences: the corpus as tokens; those that are damaged should be among them.
        seed: with the same seed and keys, a sentence is always damaged in the same way.
    """

    def __init__(self, sentences: Sequence[Sequence[str]], seed: int):
        self._seed = seed
        self._sound = {_key(sentence) for sentence in sentences}
        counts = _Counts(sentences)
        self._counts, self._pairs, self._names = counts.words, counts.followers, counts.names()
        self._spellings = sorted(
            word for word in self._names if word.isalpha() and len(word) >= _NAME
        )
        self._choose_from(counts)
        operations: dict[str, tuple[float, _Operation]] = {
            "swap": (1.0, self._swap),
            "move": (1.0, self._move),
            "drop": (1.5, self._drop),
            "double": (0.5, self._double),
            "insert": (1.0, self._insert),
            "function": (1.5, self._other_function),
            "alike": (3.5, self._other_alike),
            "form": (2.5, self._other_form),
            "word": (2.0, self._other_word),
            "letters": (1.2, self._letters),
            "pieces": (1.5, self._pieces),
            "contraction": (0.3, self._contraction),
            "cut": (0.3, self._cut),
        }
        self.kinds = tuple(operations)
        self._operations = {kind: operation for kind, (_, operation) in operations.items()}
        self._kind = _Choice({kind: weight for kind, (weight, _) in operations.items()})

    def _choose_from(self, counts: _Counts) -> None:
        """Set which words may replace others: all are in lower case, and none is a name."""
        plain = {
            word: count
            for word, count in counts.words.items()
            if word.isalpha() and word not in self._names
        }
        frequent = sorted(plain, key=_by(plain))
        short = [word for word in frequent if len(word) <= _SHORT][:_FUNCTION_WORDS]
        self._function = _Choice({word: plain[word] ** 0.5 for word in short})
        self._is_function = set(short)
        self._any = _Choice({word: count**0.75 for word, count in plain.items() if count > 1})
        self._forms = _forms({w: count for w, count in plain.items() if count >= _FORM_COUNT})
        self._followers = _followers(counts.followers, plain)
        self._alike = _alike(frequent[:_COMPARED], counts.followers)
        self._contractions = _Choice(
            {f"{left} {right}": n**0.5 for (left, right), n in counts.contractions.items()}
        )

    def damage(
        self, tokens: Sequence[str], *keys: str | int, kind: str | None = None
    ) -> Damaged | None:
        """Return a sentence damaged once, a long one more often; None if that is not possible.

        A damaged sentence differs from all sentences of the corpus.

        Args:
            tokens: the sentence.
            keys: what tells this damage from others, e.g. the number of the epoch.
            kind: the only kind of damage, once; any of them without it.
        """
        random = generator(self._seed, "damage", " ".join(tokens), *keys)
        draws = _Draws(random)
        times = 1 if kind else 1 + int(len(tokens) / _TOKENS_PER_DAMAGE * draws.fraction() * 2)
        for _ in range(_TRIES):
            draft = _Draft(tokens)
            initial = self._lower_first(draft)
            kinds = []
            for _ in range(times):
                chosen = kind or self._kind.draw(draws)
                if self._operations[chosen](draft, draws):
                    kinds.append(chosen)
            if initial and draft.tokens:
                draft.tokens[0] = capitalised(draft.tokens[0])
            if kinds and draft.tokens and _key(draft.tokens) not in self._sound:
                return Damaged(draft.tokens, draft.wrong, tuple(kinds))
        return None

    def renamed(self, tokens: Sequence[str], *keys: str | int) -> list[str]:
        """Return a sentence with made-up names for some of its names: a rare name is no damage.

        A name is made of the start of one and the end of another name of the corpus.
        """
        result = list(tokens)
        places = [
            place
            for place, token in enumerate(tokens)
            if token[0].isupper() and normal(token) in self._names
        ]
        if places and self._spellings:
            draws = _Draws(generator(self._seed, "names", " ".join(tokens), *keys))
            for place in places:
                if draws.fraction() < _RENAMED:
                    first, second = (
                        self._spellings[draws.below(len(self._spellings))] for _ in range(2)
                    )
                    cut = 2 + draws.below(len(first) - 2)
                    result[place] = capitalised(first[:cut] + second[-2 - draws.below(4) :])
        return result

    def _lower_first(self, draft: _Draft) -> bool:
        """Write the first word small unless it is a name; return whether it was."""
        first = draft.tokens[0]
        if first[0].isupper() and normal(first) not in self._names:
            draft.tokens[0] = first[0].lower() + first[1:]
            return True
        return first[0].isupper()

    def _word(self, draft: _Draft, draws: _Draws, letters: int = 1) -> int | None:
        """Return the place of a word; with `letters`, of one without a capital that has as many."""
        places = [
            place
            for place, token in enumerate(draft.tokens)
            if is_word(token)
            and (letters == 1 or (len(token) >= letters and not token[0].isupper()))
        ]
        return places[draws.below(len(places))] if places else None

    def _swap(self, draft: _Draft, draws: _Draws) -> bool:
        if len(draft.tokens) < 2:
            return False
        place = draws.below(len(draft.tokens) - 1)
        first, second = draft.tokens[place : place + 2]
        # Punctuation at the end stays there: that would be too easy.
        if not (is_word(first) and is_word(second)) or normal(first) == normal(second):
            return False
        draft.replace(place, place + 2, [second, first])
        return True

    def _move(self, draft: _Draft, draws: _Draws) -> bool:
        place = self._word(draft, draws)
        if place is None:
            return False
        distance = 2 + draws.below(_FARTHEST - 1)
        target = place + distance if draws.fraction() < 0.5 else place - distance
        if not 0 <= target < len(draft.tokens) or not is_word(draft.tokens[target]):
            return False
        token = draft.tokens[place]
        draft.replace(place, place + 1, [])
        draft.replace(target, target, [token])
        return True

    def _drop(self, draft: _Draft, draws: _Draws) -> bool:
        place = self._word(draft, draws)
        if place is None or len(draft.tokens) < 3:
            return False
        # Without an adjective or an adverb a sentence may be as good as before.
        if normal(draft.tokens[place]) not in self._is_function and draws.fraction() < 0.5:
            return False
        draft.replace(place, place + 1, [])
        return True

    def _double(self, draft: _Draft, draws: _Draws) -> bool:
        place = self._word(draft, draws)
        if place is None:
            return False
        stop = place + 1 + draws.below(_LONGEST_REPEAT)
        if stop > len(draft.tokens) or not all(map(is_word, draft.tokens[place:stop])):
            return False
        draft.replace(stop, stop, draft.tokens[place:stop])
        return True

    def _insert(self, draft: _Draft, draws: _Draws) -> bool:
        place = draws.below(len(draft.tokens) + 1)
        following = self._followers.get(normal(draft.tokens[place - 1])) if place else None
        choice = following if following and draws.fraction() < 0.7 else self._function
        if not choice:
            return False
        draft.replace(place, place, [choice.draw(draws)])
        return True

    def _other_function(self, draft: _Draft, draws: _Draws) -> bool:
        return self._other_of(draft, dict.fromkeys(self._is_function, self._function), draws)

    def _other_alike(self, draft: _Draft, draws: _Draws) -> bool:
        return self._other_of(draft, self._alike, draws)

    def _other_form(self, draft: _Draft, draws: _Draws) -> bool:
        return self._other_of(draft, self._forms, draws)

    def _other_of(self, draft: _Draft, choices: dict[str, _Choice], draws: _Draws) -> bool:
        places = [place for place, token in enumerate(draft.tokens) if normal(token) in choices]
        if not places:
            return False
        place = places[draws.below(len(places))]
        return self._other(draft, place, choices[normal(draft.tokens[place])], draws)

    def _other_word(self, draft: _Draft, draws: _Draws) -> bool:
        """Replace a word by one that often follows the word before, or by any word."""
        place = self._word(draft, draws)
        if place is None:
            return False
        following = self._followers.get(normal(draft.tokens[place - 1])) if place else None
        choice = following if following and draws.fraction() < 0.8 else self._any
        return self._other(draft, place, choice, draws)

    def _other(self, draft: _Draft, place: int, choice: _Choice, draws: _Draws) -> bool:
        if not choice:
            return False
        old, new = draft.tokens[place], choice.draw(draws)
        if normal(old) == new or self._expected(draft, place, new) > _LESS_EXPECTED * (
            self._expected(draft, place, normal(old))
        ):
            return False
        draft.replace(place, place + 1, [like(new, old)])
        return True

    def _expected(self, draft: _Draft, place: int, word: str) -> float:
        """Return how often a word is expected between two neighbours, by how often it has each."""
        neighbours = [_EDGE, *draft.tokens, _EDGE][place : place + 3 : 2]
        left, right = (normal(token) if token else _EDGE for token in neighbours)
        before, after = self._seen(left, word) + _UNSEEN, self._seen(word, right) + _UNSEEN
        return before * after / (self._counts[word] + 1)

    def _seen(self, left: str, right: str) -> int:
        """Return how often two words follow each other."""
        followers = self._pairs.get(left)
        return followers[right] if followers else 0

    def _letters(self, draft: _Draft, draws: _Draws) -> bool:
        """Drop, double, swap or change a letter of a word."""
        place = self._word(draft, draws, letters=4)
        if place is None:
            return False
        word = draft.tokens[place]
        at = 1 + draws.below(len(word) - 2)
        letter = self._any.draw(draws)[0] if self._any else word[0].lower()
        new = (
            omitted(word, at),
            repeated(word, at),
            swapped(word, at),
            replaced(word, at, letter),
        )[draws.below(4)]
        return self._invented(draft, place, new)

    def _pieces(self, draft: _Draft, draws: _Draws) -> bool:
        """Join the start of a word, or all of it, and the end of another one."""
        place = self._word(draft, draws, letters=3)
        if place is None or not self._any:
            return False
        word, other = draft.tokens[place], self._any.draw(draws)
        if len(other) < 4:
            return False
        stop = 2 + draws.below(len(word) - 1)
        cut = max(len(other) - 2 - draws.below(4), 2)
        return self._invented(draft, place, word[:stop] + other[cut:])

    def _invented(self, draft: _Draft, place: int, new: str) -> bool:
        if normal(new) in self._counts:
            return False
        draft.replace(place, place + 1, [new])
        return True

    def _contraction(self, draft: _Draft, draws: _Draws) -> bool:
        """Put what stands around an apostrophe elsewhere behind a word: "willn't"."""
        place = self._word(draft, draws)
        if place is None or not self._contractions:
            return False
        left, right = self._contractions.draw(draws).split(" ")
        word = draft.tokens[place]
        new = word + left[len(left) - draws.below(3) :] if len(left) > 2 else word
        draft.replace(place, place + 1, [new, APOSTROPHE, right])
        return True

    def _cut(self, draft: _Draft, draws: _Draws) -> bool:
        """Cut words off the end; punctuation there stays."""
        words = [place for place, token in enumerate(draft.tokens) if is_word(token)]
        cut = 1 + draws.below(3)
        if len(words) < cut + 2:
            return False
        draft.replace(words[-cut], words[-1] + 1, [])
        return True


def _by(counts: dict[str, int]) -> Callable[[str], tuple[int, str]]:
    return lambda word: (-counts[word], word)


def _key(tokens: Iterable[str]) -> str:
    return " ".join(map(normal, tokens))


def _forms(counts: dict[str, int]) -> dict[str, _Choice]:
    """Return, of each word, others with the same start and another short end (or none)."""
    stems: defaultdict[str, list[str]] = defaultdict(list)
    for word in sorted(counts, key=_by(counts)):
        for size in range(max(2, len(word) - _SUFFIX), len(word) + 1):
            stems[word[:size]].append(word)
    result = {}
    for word in counts:
        forms: dict[str, float] = {}
        # The longest common start first: those are forms rather than other words.
        for size in range(len(word), max(1, len(word) - _SUFFIX - 1), -1):
            for other in stems.get(word[:size], ()):
                if other != word and other not in forms and len(forms) < _FORMS:
                    forms[other] = counts[other] ** 0.5
        if forms:
            result[word] = _Choice(forms)
    return result


def _followers(
    followers: Mapping[str, Counter[str]], plain: Mapping[str, int]
) -> dict[str, _Choice]:
    """Return, of each word that has any, the plain words among its most frequent followers."""
    choices = {}
    for word, counts in followers.items():
        weights = {w: n**0.75 for w, n in counts.most_common(_FOLLOWERS) if w in plain}
        if weights:
            choices[word] = _Choice(weights)
    return choices


def _alike(words: list[str], followers: Mapping[str, Counter[str]]) -> dict[str, _Choice]:
    """Return, of each of some frequent words, those that stand among the same neighbours.

    That is by the cosine of the logarithms of how often each word stands before and after it.
    """
    number = {word: index for index, word in enumerate([_EDGE, *words])}
    after = np.zeros((len(number), len(number)))
    for left, row in number.items():
        for right, count in followers.get(left, {}).items():
            if right in number:
                after[row, number[right]] = np.log1p(count)
    vectors = np.concatenate([after, after.T], axis=1)[1:]
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    similarity = vectors @ vectors.T
    np.fill_diagonal(similarity, -1.0)
    nearest = np.argsort(-similarity, axis=1, kind="stable")[:, :_ALIKE]
    return {
        word: _Choice({words[other]: 1 / rank for rank, other in enumerate(row.tolist(), 1)})
        for word, row in zip(words, nearest, strict=True)
    }
