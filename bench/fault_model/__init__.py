"""An OpenAI-compatible endpoint that answers as the offline model does, plants faults, and tells what it planted."""

from bench.fault_model.process import FaultModel

__all__ = ["FaultModel"]
