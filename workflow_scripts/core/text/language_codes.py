"""Codes of languages: of two letters (ISO 639-1), of three, and as translation models write them.

The Snakefile imports this module: only the standard library.
"""

import difflib
import re
from collections.abc import Sequence

# Each code of two letters, and those of three that stand for it, of the languages of NLLB-200,
# M2M100 and mBART: ISO 639-3, 639-2/B, and members of a macrolanguage without a code of their own.
_TABLE = """
af afr; ak aka twi; am amh; ar ara arb acm acq aeb ajp apc ars ary arz; as asm; ay ayr aym;
az aze azb azj; ba bak; be bel; bg bul; bm bam; bn ben; bo bod tib; br bre; bs bos; ca cat;
cs ces cze; cy cym wel; da dan; de deu ger; dz dzo; ee ewe; el ell gre; en eng; eo epo; es spa;
et est ekk; eu eus baq; fa fas per pes prs; ff ful fuv; fi fin; fj fij; fo fao; fr fra fre;
fy fry; ga gle; gd gla; gl glg; gn grn gug; gu guj; ha hau; he heb; hi hin; hr hrv; ht hat;
hu hun; hy hye arm; id ind; ig ibo; is isl ice; it ita; ja jpn; jv jav; ka kat geo; kg kon;
ki kik; kk kaz; km khm; kn kan; ko kor; kr kau knc; ks kas; ku kur kmr ckb; ky kir; lb ltz;
lg lug; li lim; ln lin; lo lao; lt lit; lv lav lvs; mg mlg plt; mi mri mao; mk mkd mac; ml mal;
mn mon khk; mr mar; ms msa may zsm; mt mlt; my mya bur; ne nep npi; nl nld dut; nn nno;
no nor nob; ny nya; oc oci; om orm gaz; or ori ory; pa pan; pl pol; ps pus pbt; pt por;
qu que quy; rn run; ro ron rum; ru rus; rw kin; sa san; sc srd; sd snd; sg sag; si sin;
sk slk slo; sl slv; sm smo; sn sna; so som; sq sqi alb als; sr srp; ss ssw; st sot; su sun;
sv swe; sw swa swh; ta tam; te tel; tg tgk; th tha; ti tir; tk tuk; tl tgl fil; tn tsn; tr tur;
ts tso; tt tat; ug uig; uk ukr; ur urd; uz uzb uzn; vi vie; wo wol; xh xho; yi yid ydd; yo yor;
zh zho chi cmn; zu zul
"""
_SHORT = {other: code for code, *others in map(str.split, _TABLE.split(";")) for other in others}
# Two codes of two letters for one language: parts of a macrolanguage, and codes of old.
_ONE = {"nb": "no", "tw": "ak", "iw": "he", "in": "id", "ji": "yi", "jw": "jv"}
# Languages by the `language_codes` of a tokenizer of M2M100, in the order of their ids.
LISTED = {
    "m2m100": """
        af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl
        gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml
        mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th
        tl tn tr uk ur uz vi wo xh yi yo zh zu
    """,
    "wmt21": "en ha is ja cs ru zh de",
}


def short(language: str) -> str:
    """Return the code of two letters of a language; the code as it is if there is none."""
    return _SHORT.get(language, language)


def language_of(code: str) -> str:
    """Return the language of a code as models write it: por_Latn, pt_XX, __pt__, pt-BR are `pt`."""
    found = short(re.split("[_-]", code.strip("_"))[0].lower())
    return _ONE.get(found, found)


def differ(code: str | None, other: str | None) -> bool:
    """Tell whether two codes are of two languages.

    Unknown ones do not differ, nor do codes of two and of three letters that no table compares.
    """
    if code is None or other is None:
        return False
    one, two = language_of(code), language_of(other)
    return len(one) == len(two) and one != two


def named(code: str, known: Sequence[str]) -> list[str]:
    """Return the codes of a model that `code` may stand for: itself, __pt__, or pt_XX."""
    exact = [name for name in known if name in (code, f"__{code}__")]
    return exact or [name for name in known if name.startswith(f"{code}_")]


def nearest(code: str, known: Sequence[str]) -> list[str]:
    """Return the codes of a model next to one that it does not know: first of its language."""
    same = [name for name in known if language_of(name) == language_of(code)]
    near = difflib.get_close_matches(code, known, n=3, cutoff=0)
    return list(dict.fromkeys([*same, *near]))[: max(3, len(same))]
