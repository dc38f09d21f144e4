class InputError(Exception):
    """The user can mend this: the message names the file, line or key and says what to do."""
