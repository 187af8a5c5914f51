"""Tables for papers and pages: LaTeX for the package booktabs, and Markdown."""

from collections.abc import Collection, Sequence

LATEX_SIGNS = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "○": r"$\circ$",
    "◆": r"$\diamond$",
}


def latex_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int]) -> str:
    """Return a tabular; `numbers` are the places of the columns that are set to the right."""
    alignment = "".join("r" if place in numbers else "l" for place in range(len(headings)))
    head, *body = (rf"{' & '.join(map(in_latex, cells))} \\" for cells in (headings, *rows))
    lines = [
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        head,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "".join(f"{line}\n" for line in lines)


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[int]) -> str:
    """Return a table of Markdown; `numbers` are the places of the columns that are set to the right."""
    rule = ["---:" if place in numbers else "---" for place in range(len(headings))]
    escaped = ([cell.replace("|", r"\|") for cell in cells] for cells in (headings, *rows))
    head, *body = escaped
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *body))


def in_latex(text: str) -> str:
    """Return a text with the characters escaped that LaTeX reads as commands."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in text)
