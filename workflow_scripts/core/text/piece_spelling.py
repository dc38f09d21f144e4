"""How pieces are spelled: as SentencePiece spells them, whatever tokenizer they are of.

A blank is U+2581. A byte that is no character of its own, or of other whitespace, is `<0xE2>`, as
in SentencePiece models that fall back to bytes; byte-level BPE has pieces of such bytes.
"""

import re
import sys
import unicodedata
from collections import Counter

WORD_MARK = "\u2581"  # SentencePiece's mark at the beginning of a word
_BYTES = re.compile(r"(?:<0x[0-9A-F]{2}>)+")
_PRINTED = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = (byte for byte in range(0x100) if byte not in _PRINTED)
# The character for each byte in a vocabulary of byte-level BPE: printed ones are themselves, the
# others follow from U+0100 on (GPT-2's `bytes_to_unicode`).
_BYTE_OF = {chr(byte): byte for byte in _PRINTED} | {
    chr(0x100 + place): byte for place, byte in enumerate(_OTHERS)
}


def spelled(piece: str) -> str:
    """Return the spelling of a piece of byte-level BPE; different pieces have different ones.

    Raises:
        KeyError: the piece has a character that stands for no byte.
    """
    text = bytes(_BYTE_OF[character] for character in piece).decode("utf-8", "surrogateescape")
    return "".join(map(_spelled, text.replace("<0x", "\udc3c0x")))


def _spelled(character: str) -> str:
    if "\udc00" <= character <= "\udcff":  # how Python shows a byte that is no UTF-8
        return f"<0x{ord(character) - 0xDC00:02X}>"
    if character == " ":
        return WORD_MARK
    # As a sign of the text, not for a blank; and what would end a piece between blanks.
    if character == WORD_MARK or character.isspace():
        return "".join(f"<0x{byte:02X}>" for byte in character.encode())
    return character


def follows_word(piece: str) -> bool:
    """Tell whether a word has ended before a piece.

    It has ended before a piece that begins a word, and before a piece without letters, marks and
    digits: it is punctuation. A character whose bytes go on in the next piece counts as most of
    those that begin so (E2 80: punctuation, C3: letters), the rest of one as a letter.
    """
    return piece.startswith(WORD_MARK) or all(
        unicodedata.category(character)[0] not in "LMN" for character in _BYTES.sub(_whole, piece)
    )


def _whole(run: re.Match[str]) -> str:
    data = bytes.fromhex(run[0].replace("<0x", "").replace(">", ""))
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return "x"
        return data[: error.start].decode() + _begun(data[error.start :])


def _begun(data: bytes) -> str:
    """Return a letter or a blank, whichever is more like the characters that begin with bytes."""
    size = 2 + (data[0] >= 0xE0) + (data[0] >= 0xF0)
    number = data[0] & 0x7F >> size
    for byte in data[1:]:
        number = number << 6 | byte & 0x3F
    begin, end = (bound << 6 * (size - len(data)) for bound in (number, number + 1))
    kinds = Counter(
        unicodedata.category(chr(point))[0] for point in range(begin, min(end, sys.maxunicode + 1))
    )
    return "x" if kinds["L"] + kinds["M"] + kinds["N"] >= kinds["P"] + kinds["S"] else " "
