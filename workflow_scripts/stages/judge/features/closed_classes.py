"""Closed classes of English words."""

_PRONOUNS = (
    "i you he she it we they me him her us them my your his its our their mine yours hers ours "
    "theirs"
)
_OTHERS = (
    "a an the this that these those myself yourself himself herself itself ourselves yourselves "
    "themselves who whom whose which what where when why how and or but nor so yet for of in to "
    "from at by with on off up down out over under into onto upon about above across after against "
    "along among around as before behind below beneath beside besides between beyond despite "
    "during except inside like near outside since than through throughout till toward towards "
    "until via within without am is are was were be been being do does did done doing have has had "
    "having can could will would shall should may might must ought not no yes if then else because "
    "although though while whereas unless whether there here too also very just only even still "
    "again ever never always all any both each either every few many more most much neither none "
    "other some such several one two three four five six seven eight nine ten first second third "
    "another anything something everything nothing anyone someone everyone anybody somebody "
    "everybody nobody don t s m re ve ll d ain isn aren wasn weren doesn didn hasn haven hadn won "
    "wouldn couldn shouldn mustn needn oh hey well okay ok mr mrs ms dr"
)
PRONOUNS = frozenset(_PRONOUNS.split())
# They carry grammar rather than content; the parts of contractions are among them.
FUNCTION_WORDS = PRONOUNS | frozenset(_OTHERS.split())
