"""Processes side by side, of which a few at a time have the GPU."""
import collections
import multiprocessing
import os
import time

import torch

from .jobs import failure, preload, run_job, status_of, write_result


def start_cuda():
    torch.cuda.init()
    os._exit(0)


def start_method(options):
    """fork, which saves the imports, if a forked process can use CUDA; else spawn."""
    if options.start != "fork" or options.device == "cpu":
        return options.start
    process = multiprocessing.get_context("fork").Process(target=start_cuda)
    process.start()
    process.join(60)
    if process.exitcode == 0:
        return "fork"
    print("a forked process cannot use CUDA: every case imports for itself", flush=True)
    return "spawn"


class Running:
    """One process and where it stands."""

    def __init__(self, context, job, options):
        self.job = job
        self.connection, there = context.Pipe()
        arguments = (job, str(options.out), options.small, options.device, options.lanes == 1, there)
        self.process = context.Process(target=run_job, args=arguments)
        self.process.start()
        there.close()
        self.started = time.monotonic()
        self.state = "preparing"

    def look(self):
        """The process asks for the device once; its end closes the pipe."""
        try:
            if self.state == "preparing" and self.connection.poll():
                self.connection.recv()
                self.state = "ready"
        except (EOFError, OSError):
            pass

    def give_device(self):
        self.connection.send("go")
        self.state = "has the device"
        self.started = time.monotonic()

    def late(self, limit):
        return self.state != "ready" and time.monotonic() - self.started > limit


def finish(running, options, counts):
    job = running.job
    running.process.join()
    if status_of(options.out, job) is None:
        code = running.process.exitcode
        write_result(options.out, job, failure(job, "stopped", f"the process ended with {code}"), {})
    status = status_of(options.out, job)
    counts[status] += 1
    spent = time.monotonic() - running.started
    print(f"{sum(counts.values()):4d} {job.kind} {job.name}: {status}, {spent:.1f} s", flush=True)


def run_all(jobs, options):
    """At most options.lanes processes use the device at a time, each from its first CUDA call to
    its end; others build their models meanwhile."""
    preload()
    context = multiprocessing.get_context(start_method(options))
    waiting, running, counts = collections.deque(jobs), [], collections.Counter()
    until = time.monotonic() + 60 * options.minutes
    while waiting or running:
        while waiting and len(running) < options.jobs and time.monotonic() < until:
            running.append(Running(context, waiting.popleft(), options))
        for one in running:
            one.look()
        having = sum(one.state == "has the device" for one in running)
        for one in [r for r in running if r.state == "ready"][:max(0, options.lanes - having)]:
            one.give_device()
        for one in [r for r in running if r.late(options.limit)]:
            one.process.kill()
            one.process.join()
            write_result(options.out, one.job, failure(one.job, "time limit", f"{options.limit} s"), {})
        for one in [r for r in running if not r.process.is_alive()]:
            running.remove(one)
            finish(one, options, counts)
        if not running and time.monotonic() >= until:
            break
        time.sleep(0.01)
    print(f"{dict(counts)}; {len(waiting)} left", flush=True)
    return counts
