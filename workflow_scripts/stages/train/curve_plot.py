"""The report's plot of a model's learning curve."""

from markupsafe import Markup
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

from workflow_scripts.core.report import plot_style


def learning_curve(rows: list[dict[str, float]], role: str) -> Markup:
    """Draw both perplexities of a model's learning_curve.tsv over its updates."""
    with plot_style.style():
        figure, (axes,) = plot_style.panels(1, plot_style.WIDE_PANEL)
        updates = [row["updates"] for row in rows]
        validation = [row["validation_perplexity"] for row in rows]
        training = [row["train_perplexity"] for row in rows]
        axes.plot(updates, training, color=plot_style.COLOURS[-1], linestyle="--", label="training")
        axes.plot(updates, validation, color=plot_style.COLOURS[0], label="validation")
        best = min(range(len(rows)), key=validation.__getitem__)
        axes.plot(
            updates[best], validation[best], "o", color=plot_style.MARK, markersize=4, label="best"
        )
        axes.set(yscale="log", xlabel="updates", ylabel="perplexity", title=role)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.legend()
        label = f"{role}: validation perplexity falls to {validation[best]:.3f}"
        return plot_style.svg(figure, f"curve-{role}", label)
