"""Known forms, checked against the reference grammar of Czech, and the shape of the paradigms."""

import pytest

from workflow_scripts.testbed import czech
from workflow_scripts.testbed.word_list import LEXICON

NOUN_FORMS = """
teacher nom.pl učitelé | teacher dat.sg učiteli | teacher acc.sg učitele
teacher loc.pl učitelích | student nom.pl studenti | student voc.sg studente
student ins.pl studenty | student dat.sg studentovi | doctor gen.pl lékařů
doctor nom.pl lékaři | soldier nom.pl vojáci | soldier loc.pl vojácích
policeman nom.pl policisté | policeman ins.sg policistou | policeman voc.sg policisto
boss nom.pl šéfové | neighbour nom.pl sousedé | neighbour acc.pl sousedy | friend nom.pl přátelé
friend gen.pl přátel | friend gen.sg přítele | friend ins.pl přáteli | colleague dat.sg kolegovi
colleague nom.pl kolegové | colleague loc.pl kolezích | boy nom.pl kluci | boy voc.sg kluku
boy gen.sg kluka | boy loc.pl klucích | man nom.pl muži | man acc.pl muže | man ins.sg mužem
woman dat.sg ženě | woman gen.pl žen | woman acc.sg ženu | woman ins.pl ženami
woman loc.pl ženách | grandfather gen.sg dědečka | grandfather loc.pl dědečcích
judge nom.pl soudci | judge gen.sg soudce | judge ins.sg soudcem | dog gen.sg psa
dog nom.pl psi | dog ins.sg psem | puppy gen.sg štěněte | puppy nom.pl štěňata
shop loc.sg obchodě | house gen.sg domu | house loc.sg domě | forest gen.sg lesa
forest loc.sg lese | school loc.sg škole | hospital gen.pl nemocnic | city loc.sg městě
city gen.pl měst | square ins.sg náměstím | airport loc.sg letišti | airport gen.pl letišť
theatre gen.pl divadel | market loc.pl trzích | book dat.sg knize | book gen.pl knih
letter loc.sg dopise | article gen.sg článku | article loc.pl článcích | story loc.pl příbězích
photo gen.pl fotografií | table gen.sg stolu | table loc.sg stole | window gen.pl oken
window loc.sg okně | cup gen.sg hrnku | knife nom.pl nože | lesson gen.pl lekcí
answer ins.pl odpověďmi | answer gen.sg odpovědi | suitcase voc.sg kufře
"""
NAME_FORMS = """
Prague loc.sg Praze | Prague gen.sg Prahy | Brno loc.sg Brně | Vienna gen.sg Vídně
Vienna loc.sg Vídni | London gen.sg Londýna | Peter voc.sg Petře | Paul gen.sg Pavla
Mark dat.sg Markovi | Jane dat.sg Janě | Mary dat.sg Marii | Mary ins.sg Marií
Thomas acc.sg Tomáše | Charles ins.sg Karlem
"""
# Concept, aspect, person and number, form.
PRESENTS = """
write imperfective 1sg píšu | write perfective 3sg napíše | buy imperfective 3pl kupují
buy perfective 1sg koupím | eat imperfective 3pl jedí | eat perfective 3pl snědí
find imperfective 3pl nacházejí | make imperfective 3pl vyrábějí | see imperfective 3pl vidí
help perfective 3sg pomůže | help perfective 3pl pomohou | wash imperfective 1pl myjeme
break perfective 3sg rozbije | lift perfective 3pl zvednou | turn_on perfective 2sg zapneš
go imperfective 3pl jdou | send perfective 3sg pošle | know imperfective 3pl vědí
know imperfective 1sg vím | think imperfective 3pl myslí | laugh imperfective 3sg směje
fear imperfective 1sg bojím | give perfective 3pl dají | use perfective 3sg použije
return imperfective 3pl vracejí
"""
# Concept, aspect, gender and number, form.
PASTS = """
go imperfective ma.sg šel | go imperfective f.sg šla | go imperfective f.pl šly
go perfective n.sg zašlo | find perfective f.sg našla | find perfective ma.pl našli
write perfective ma.pl napsali | write imperfective f.sg psala | eat imperfective f.sg jedla
lift perfective f.sg zvedla | turn_on perfective ma.sg zapnul
try_out perfective f.sg vyzkoušela | help perfective mi.pl pomohly
know imperfective n.pl věděla
"""
PASSIVES = """
write perfective f.sg napsána | buy perfective mi.sg koupen | repair perfective n.sg opraveno
change perfective mi.sg změněn | find perfective ma.pl nalezeni
frighten perfective ma.sg vyděšen | wash perfective n.sg umyto
reject perfective mi.sg odmítnut | tidy perfective mi.sg uklizen
"""
ADJECTIVES = """
good ma nom.pl dobří | big ma nom.pl velcí | expensive ma nom.pl drazí | huge ma nom.pl obrovští
rich ma nom.pl bohatí | good ma acc.sg dobrého | good mi acc.sg dobrý | good f acc.sg dobrou
good n nom.pl dobrá | good f gen.sg dobré | good mi loc.sg dobrém | good ma dat.pl dobrým
modern f acc.sg moderní | modern ma gen.sg moderního | modern n ins.pl moderními
short ma nom.pl krátcí
"""


DEMONSTRATIVES = """
ma gen sg tohoto | f acc sg tuto | ma nom pl tito | n nom pl tato | mi loc pl těchto
"""
POSSESSIVES = """
my ma acc sg mého | my f nom sg moje | my ma nom pl moji | own f acc sg svoji | own mi loc sg svém
your n ins sg tvým | his f gen pl jeho | her f ins pl jejími | her ma gen sg jejího
our f gen sg naší | our ma nom pl naši | your_plural mi dat sg vašemu | their n nom pl jejich
"""
PRONOUNS = """
I dat mi | I dat preposition mně | he acc ho | he dat preposition němu | he dat stressed jemu
she acc ji | she ins preposition ní | they gen preposition nich | we ins námi
you acc stressed tebe
"""
NUMERALS = """
2 f nom dvě | 2 ma nom dva | 2 f ins dvěma | 3 n dat třem | 4 ma ins čtyřmi | 5 ma acc pět
9 ma gen devíti
"""


def _noun(concept, cell):
    entry = LEXICON.noun.get(concept) or LEXICON.name[concept]
    return czech.noun(entry, *cell.split("."))


def _present(concept, aspect, person):
    return czech.present(LEXICON.verb[concept], aspect, int(person[0]), person[1:])


def _past(concept, aspect, agreement):
    return czech.past(LEXICON.verb[concept], aspect, *agreement.split("."))


def _passive(concept, aspect, agreement):
    return czech.passive_participle(LEXICON.verb[concept], aspect, *agreement.split("."))


def _adjective(concept, gender, cell):
    return czech.adjective(LEXICON.adjective[concept], gender, *cell.split("."))


def _numeral(number, *cell):
    return czech.numeral(int(number), *cell)


KNOWN = [
    (make, entry.split())
    for make, text in (
        (_noun, NOUN_FORMS),
        (_noun, NAME_FORMS),
        (_present, PRESENTS),
        (_past, PASTS),
        (_passive, PASSIVES),
        (_adjective, ADJECTIVES),
        (czech.demonstrative, DEMONSTRATIVES),
        (czech.possessive, POSSESSIVES),
        (czech.pronoun, PRONOUNS),
        (_numeral, NUMERALS),
    )
    for line in text.strip().splitlines()
    for entry in line.split(" | ")
]


@pytest.mark.parametrize(
    ("make", "row"),
    [pytest.param(*known, id=f"{known[0].__name__}-{'-'.join(known[1])}") for known in KNOWN],
)
def test_known_forms(make, row):
    *arguments, form = row
    assert make(*arguments) == form


def test_degrees():
    good, old = LEXICON.adjective["good"], LEXICON.adjective["old"]
    assert czech.adjective(good, "f", "nom", "sg", "comparative") == "lepší"
    assert czech.adjective(old, "ma", "gen", "sg", "superlative") == "nejstaršího"
    with pytest.raises(ValueError, match="degree 'best'"):
        czech.adjective(good, "f", "nom", "sg", "best")


def test_futures():
    verb = LEXICON.verb
    assert czech.future(verb["write"], "imperfective", 1, "sg") == "budu psát"
    assert czech.future(verb["write"], "perfective", 1, "sg") == "napíšu"
    assert czech.future(verb["go"], "imperfective", 3, "pl") == "půjdou"
    assert czech.future(verb["fly"], "imperfective", 2, "sg") == "poletíš"


def test_clitics_and_negation():
    verb = LEXICON.verb
    assert czech.clitic(verb["laugh"], "imperfective") == "se"
    assert czech.clitic(verb["rest"], "perfective") == "si"
    assert czech.clitic(verb["rest"], "imperfective") == ""
    assert czech.negated("je") == "není"
    assert czech.negated("píše") == "nepíše"
    assert [czech.auxiliary(person, "sg") for person in (1, 2, 3)] == ["jsem", "jsi", ""]


def test_modals():
    assert czech.present_form(czech.MUST, 3, "pl") == "musejí"
    assert czech.present_form(czech.CAN, 1, "sg") == "mohu"
    assert czech.present_form(czech.CAN, 3, "sg") == "může"
    assert czech.participle(czech.CAN, "f", "sg") == "mohla"
    assert czech.participle(czech.MUST, "ma", "pl") == "museli"


def test_being():
    assert czech.be_present(3, "pl") == "jsou"
    assert czech.be_future(1, "pl") == "budeme"
    assert czech.be_past("f", "sg") == "byla"


def test_what_a_verb_lacks_is_an_error():
    with pytest.raises(ValueError, match="'know' has no perfective"):
        czech.past(LEXICON.verb["know"], "perfective", "f", "sg")
    with pytest.raises(ValueError, match="no passive participle"):
        czech.passive_participle(LEXICON.verb["laugh"], "imperfective", "f", "sg")
    with pytest.raises(ValueError, match="no passive participle"):
        czech.passive_participle(LEXICON.verb["attack"], "perfective", "f", "sg")
    with pytest.raises(ValueError, match="neither imperfective nor perfective"):
        czech.past(LEXICON.verb["write"], "progressive", "f", "sg")
    with pytest.raises(ValueError, match="no such person"):
        czech.present(LEXICON.verb["write"], "perfective", 4, "sg")
    with pytest.raises(ValueError, match="no such agreement"):
        czech.past(LEXICON.verb["write"], "perfective", "m", "sg")
    with pytest.raises(ValueError, match="no such cell"):
        czech.noun(LEXICON.noun["dog"], "abl", "sg")


def test_indefinites_and_the_bare_demonstrative():
    assert czech.demonstrative("f", "ins", "sg", False) == "tou"
    assert czech.someone("dat") == "někomu"
    assert czech.indefinite("ma", "nom", "pl") == "nějací"
    assert czech.indefinite("f", "acc", "sg") == "nějakou"


def test_counted_cases():
    assert czech.counted_case(5, "nom") == "gen"
    assert czech.counted_case(5, "ins") == "ins"
    assert czech.counted_case(4, "nom") == "nom"
    with pytest.raises(ValueError, match="not from 2 to 10"):
        czech.numeral(11, "ma", "nom")


@pytest.mark.parametrize(
    "phrase",
    [
        "v domě", "ve škole", "ve filmu", "ve vlaku", "ve skříni", "ve městě", "v knize",
        "v zahradě", "ve zprávě", "ve dvou", "ve Vídni", "v Praze", "v závodě", "ve třech",
        "s otcem", "se psem", "se sestrou", "se ženou", "se mnou", "s knihou", "se čtyřmi",
        "z lesa", "ze školy", "ze stolu", "ze zahrady", "z Brna", "ze dvou",
        "k matce", "ke kolegovi", "ke stolu", "ke škole", "ke mně", "k řece", "k soudci",
        "přede mnou", "před domem", "na stole", "do školy",
    ],
)  # fmt: skip
def test_prepositions(phrase):
    word, following = phrase.split()
    bare = {"ve": "v", "se": "s", "ze": "z", "ke": "k", "přede": "před"}.get(word, word)
    assert czech.preposition(bare, following) == word


@pytest.mark.parametrize("entry", LEXICON.nouns + LEXICON.names, ids=lambda entry: entry.concept)
def test_every_noun_has_every_form(entry):
    for case in czech.CASES:
        for number in czech.NUMBERS:
            form = czech.noun(entry, case, number)
            assert form.replace("-", "").isalpha(), (case, number, form)
            # Spellings that Czech does not have are a stem joined to the wrong ending.
            assert not any(
                pair in form for pair in ("ďe", "ťe", "ňe", "ďi", "ťi", "ňi", "kě", "hě")
            )
    assert czech.noun(entry, "nom", "sg") == entry.czech
    assert czech.noun(entry, "voc", "pl") == czech.noun(entry, "nom", "pl")
    accusative = "nom" if entry.gender in ("mi", "n") else "gen"
    if entry.gender != "f" and entry.paradigm != "předseda":
        assert czech.noun(entry, "acc", "sg") == czech.noun(entry, accusative, "sg")


@pytest.mark.parametrize("verb", LEXICON.verbs, ids=lambda verb: verb.concept)
def test_every_verb_has_every_form(verb):
    aspects = ["imperfective"] + ["perfective"] * (verb.perfective is not None)
    for aspect in aspects:
        forms = {
            czech.present(verb, aspect, person, number)
            for person in (1, 2, 3)
            for number in czech.NUMBERS
        }
        assert len(forms) >= 5, "only the third persons may coincide"
        pasts = [
            czech.past(verb, aspect, gender, number)
            for gender in czech.GENDERS
            for number in czech.NUMBERS
        ]
        assert pasts[0].endswith("l")
        assert len(set(pasts)) == 5
        if verb.case == "acc" and not verb.preposition:
            participle = czech.passive_participle(verb, aspect, "ma", "sg")
            assert participle.endswith(("n", "t"))


@pytest.mark.parametrize("entry", LEXICON.adjectives, ids=lambda entry: entry.concept)
def test_every_adjective_has_every_form(entry):
    for degree in ("positive", "comparative", "superlative"):
        for gender in czech.GENDERS:
            for case in czech.CASES:
                for number in czech.NUMBERS:
                    form = czech.adjective(entry, gender, case, number, degree)
                    assert form.isalpha()
    assert czech.adjective(entry, "ma", "nom", "sg") == entry.czech
