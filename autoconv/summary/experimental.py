"""Default steps, names of summaries, and summaries that are messages already."""

from autoconv.summary.state import get_step, set_step, summary_scope
from autoconv.summary.writing import write_raw_pb

__all__ = ["get_step", "set_step", "summary_scope", "write_raw_pb"]
