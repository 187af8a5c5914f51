"""The option `--format` of all commands that give scores."""

from annotator.cli.site.tables import FORMATS, format_option
from annotator.evaluation.outputs.score_outputs import SCORE_OUTPUTS

score_format_option = format_option(*(one.name for one in SCORE_OUTPUTS if one.name not in FORMATS))
