"""Grammar: is a sentence as people write them? A small classifier, trained on damaged sentences."""

from workflow_scripts.stages.judge.grammar.grammar_model import Grammar

__all__ = ["Grammar"]
