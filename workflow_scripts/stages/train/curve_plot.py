"""The report's plot of a model's learning curve."""

from markupsafe import Markup
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from workflow_scripts.core.report import plots


def learning_curve(rows: list[dict[str, float]], role: str) -> Markup:
    """Draw both perplexities of a model's learning_curve.tsv over its updates."""
    with plots.style():
        figure, (axes,) = plots.panels(1, plots.WIDE_PANEL)
        updates = [row["updates"] for row in rows]
        validation = [row["validation_perplexity"] for row in rows]
        training = [row["train_perplexity"] for row in rows]
        axes.plot(updates, training, color=plots.COLOURS[-1], linestyle="--", label="training")
        axes.plot(updates, validation, color=plots.COLOURS[0], label="validation")
        best = min(range(len(rows)), key=validation.__getitem__)
        axes.plot(
            updates[best], validation[best], "o", color=plots.MARK, markersize=4, label="best"
        )
        axes.set(yscale="log", xlabel="updates", ylabel="perplexity", title=role)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.legend()
        label = f"{role}: validation perplexity falls to {validation[best]:.3f}"
        return plots.svg(figure, f"curve-{role}", label)
