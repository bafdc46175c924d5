"""What machine this is and how its clocks stand. Reads only; what cannot be read is null."""
import ctypes
import os
import platform
import subprocess
import time

SM_CLOCK, MEMORY_CLOCK = 1, 2  # nvmlClockType_t in nvml.h
QUERY = "clocks.sm,clocks.mem,temperature.gpu,power.draw"
ASK_AGAIN_SECONDS = 20  # nvidia-smi takes a second where NVML takes none


class Clocks:
    """Clocks, temperature and power through NVML, else through nvidia-smi."""

    def __init__(self):
        self.library, self.handle = None, ctypes.c_void_p()
        self.answer, self.asked_at = None, None
        try:
            library = ctypes.CDLL("libnvidia-ml.so.1")
        except OSError:
            return
        if library.nvmlInit_v2() == 0 and library.nvmlDeviceGetHandleByIndex_v2(
                0, ctypes.byref(self.handle)) == 0:
            self.library = library

    def ask(self, function, *arguments):
        value = ctypes.c_uint()
        if getattr(self.library, function)(self.handle, *arguments, ctypes.byref(value)) != 0:
            return None
        return value.value

    def read(self):
        if self.library is None:
            return self.read_seldom()
        power = self.ask("nvmlDeviceGetPowerUsage")
        return {"sm_mhz": self.ask("nvmlDeviceGetClockInfo", SM_CLOCK),
                "memory_mhz": self.ask("nvmlDeviceGetClockInfo", MEMORY_CLOCK),
                "temperature_c": self.ask("nvmlDeviceGetTemperature", 0),
                "power_w": None if power is None else power / 1000}

    def read_seldom(self):
        now = time.monotonic()
        if self.asked_at is None or now - self.asked_at > ASK_AGAIN_SECONDS:
            self.answer, self.asked_at = from_nvidia_smi(), now
        return self.answer


def nvidia_smi(query):
    try:
        answer = subprocess.run(["nvidia-smi", "-i", "0", f"--query-gpu={query}",
                                 "--format=csv,noheader,nounits"],
                                capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return [value.strip() for value in answer.stdout.split(",")]


def from_nvidia_smi():
    names = ("sm_mhz", "memory_mhz", "temperature_c", "power_w")
    values = nvidia_smi(QUERY)
    if values is None or len(values) != len(names):
        return dict.fromkeys(names)
    return {name: as_number(value) for name, value in zip(names, values)}


def as_number(text):
    try:
        return float(text)
    except ValueError:
        return None  # "[N/A]"


def describe(device, clocks):
    import torch
    driver = nvidia_smi("driver_version")
    facts = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": None,
             "python": platform.python_version(), "system": platform.release(),
             "driver": driver[0] if driver else None, "device": device, "gpu": None,
             "multiprocessors": None, "memory_bytes": None, "l2_bytes": None,
             "cpu_cores": os.cpu_count(), "clocks": clocks.read()}
    if device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        facts.update(cudnn=torch.backends.cudnn.version(), gpu=properties.name,
                     multiprocessors=properties.multi_processor_count,
                     memory_bytes=properties.total_memory,
                     l2_bytes=getattr(properties, "L2_cache_size", None))
    return facts
