"""What record_memory.py records: models, cases, steps, the allocator's trace, calls, probes, exports."""
import os
import warnings

# A forked process cannot use CUDA when its parent asked the driver; this lets imports ask NVML.
os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

warnings.filterwarnings("ignore")
