"""Text in LaTeX tables."""

LATEX_SIGNS = {
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "○": r"$\circ$",
    "◆": r"$\diamond$",
}


def in_latex(text: str) -> str:
    """Return a text with the characters escaped that LaTeX reads as commands."""
    return "".join(LATEX_SIGNS.get(sign, sign) for sign in text)
