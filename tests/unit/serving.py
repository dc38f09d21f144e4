"""How tests serve a page: as its command does, but in a thread of theirs."""

import threading
import time
from contextlib import contextmanager

from workflow_scripts.apps.web.serving import address, listen, server


@contextmanager
def serving(app):
    """Serve an application at a free port; give its address, without a slash at its end."""
    with listen("127.0.0.1", 0) as listening:
        served = server(app)
        thread = threading.Thread(target=served.run, kwargs={"sockets": [listening]})
        thread.start()
        while not served.started:
            time.sleep(0.01)
        try:
            yield address("127.0.0.1", listening).rstrip("/")
        finally:
            served.should_exit = True
            thread.join()
