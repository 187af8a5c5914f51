"""A report of a collection as one page of HTML that stands alone: nothing is fetched, and no script is needed."""

from annotator.reporting.page import report_html as report_html
