"""Closed classes of English words."""

_PRONOUNS = (
    "i you he she it we they me him her us them my your his its our their mine yours hers ours "
    "theirs"
)
_GRAMMAR = (
    "a an the this that these those myself yourself himself herself itself ourselves yourselves "
    "themselves who whom whose which what where when why how and or but so yet for of in to "
    "from at by with on off up down out over under into onto upon about above across after against "
    "along among around as before behind below beneath beside besides between beyond despite "
    "during except inside like near outside since than through throughout till toward towards "
    "until via within am is are was were be been being do does did done doing have has had "
    "having can could will would shall should may might must ought yes if then else because "
    "although though while whereas unless whether there here too also very just only even still "
    "again ever always all any both each either every few many more most much "
    "other some such several one another anything something everything anyone someone everyone "
    "anybody somebody everybody s m re ve ll d t oh hey well okay ok mr mrs ms dr"
)
_NUMBERS = "two three four five six seven eight nine ten first second third"
# With the first parts of contractions with "not".
_NEGATIONS = (
    "not no nor never neither none nothing nobody without don ain isn aren wasn weren doesn didn "
    "hasn haven hadn won wouldn couldn shouldn mustn needn"
)
PRONOUNS = frozenset(_PRONOUNS.split())
# They carry grammar rather than content; the parts of contractions are among them.
FUNCTION_WORDS = PRONOUNS | frozenset(f"{_GRAMMAR} {_NUMBERS} {_NEGATIONS}".split())
# Those that may change while a sentence says the same of the same things.
WITHOUT_CONTENT = PRONOUNS | frozenset(_GRAMMAR.split())
# Of each class a sentence has one word or another one; a plural in -s counts as its singular.
_EXCHANGED = (
    "january february march april may june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
    "spring summer autumn winter",
    "morning afternoon evening",
    "yesterday today tomorrow",
    "minute hour day week month year decade century",
    "north south east west northern southern eastern western",
    "man woman boy girl son daughter brother sister father mother husband wife uncle aunt",
    "king queen",
    "black white red green blue yellow brown pink purple orange",
)
# The words of such a class, by the number of the class.
CLASSES = {word: number for number, words in enumerate(_EXCHANGED) for word in words.split()}
