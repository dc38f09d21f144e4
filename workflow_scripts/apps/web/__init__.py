"""What both pages share: the guard before them, their look, and the way they are served."""
