#!/usr/bin/env python3
"""What the requests of a recorded case take of the device when its segments lie at other addresses.

usage: address_order.py [CASE...]      (names of compare_memory.py's rows; else all)

Of free blocks of one size PyTorch takes the one with the lowest address, and CUDA decides where a segment lies. Each case's
requests are given to the allocator's rules three times: with the recorded addresses, where the peak has to come out as
recorded to count, and with every segment above, or below, the one before. symprof's segments lie one below the other."""
import bisect
import json
import pathlib
import sys
import zipfile

import compare_memory

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
APART = 1 << 40  # so that no two segments touch


def column(data, width):
    """Integers whose lowest bytes stand first, then the second ones, and so on."""
    count = len(data) // width
    return [sum(data[place + byte * count] << (8 * byte) for byte in range(width)) for place in range(count)]


def recorded(case):
    """(events as (action, size, offset), the recorded peak of reserved bytes)."""
    with zipfile.ZipFile(HERE / "data" / f"{case.partition('-')[0]}.zip") as files:
        record = json.loads(files.read(f"case-{case}/record.json"))
        action, size, offset = (column(files.read(f"case-{case}/{name}"), width)
                                for name, width in (("action.u8", 1), ("size.u64", 8), ("offset.u64", 8)))
    names = record["trace"]["actions"]
    return ([(names[a], s, o) for a, s, o in zip(action, size, offset)],
            max(phase["max_memory_reserved"] for phase in record["phases"]))


class Allocator:
    """Blocks are free in two pools, those of at most 1 MiB and the others, in the order of size and address."""

    def __init__(self, addresses):
        self.addresses = addresses
        self.free, self.segments, self.live = ([], []), {}, {}
        self.reserved = self.peak = 0

    def new_segment(self, bytes_, is_large):
        size = 2 * MIB if not is_large else 20 * MIB if bytes_ < 10 * MIB else -(-bytes_ // (2 * MIB)) * 2 * MIB
        address = next(self.addresses)
        self.segments[address] = size
        self.reserved += size
        self.peak = max(self.peak, self.reserved)
        return size, address

    def take(self, name, bytes_):
        bytes_ = max(512, -(-bytes_ // 512) * 512)
        is_large = bytes_ > MIB
        pool = self.free[is_large]
        place = bisect.bisect_left(pool, (bytes_, -APART * APART))
        size, address = pool.pop(place) if place < len(pool) else self.new_segment(bytes_, is_large)
        if size - bytes_ > (MIB if is_large else 511):
            bisect.insort(pool, (size - bytes_, address + bytes_))
            size = bytes_
        self.live[name] = address, size, is_large

    def give_back(self, name):
        address, size, is_large = self.live.pop(name)
        segment = max(start for start in self.segments if start <= address)
        end, pool = segment + self.segments[segment], self.free[is_large]
        for other in [b for b in pool if segment <= b[1] < end and (b[1] + b[0] == address or b[1] == address + size)]:
            pool.remove(other)
            address, size = min(address, other[1]), size + other[0]
        bisect.insort(pool, (size, address))


def peak(events, addresses):
    allocator = Allocator(addresses)
    for action, size, offset in events:
        if action == "alloc":
            allocator.take(offset, size)
        elif action in ("free", "free_requested"):
            allocator.give_back(offset)
    return allocator.peak


def peaks_of(events):
    orders = {"recorded": (o for action, _, o in events if action == "segment_alloc"),
              "ascending": (APART * n for n in range(10 ** 6)), "descending": (-APART * n for n in range(10 ** 6))}
    return {name: peak(events, addresses) for name, addresses in orders.items()}


def main():
    found = []
    for case in sys.argv[1:] or [name for name, _ in compare_memory.records(r"^(?!.*-expandable$)")]:
        events, reserved = recorded(case)
        # Where memory is given back to the device, these rules do not follow.
        if any("segment_free" in action for action, _, _ in events):
            continue
        peaks = peaks_of(events)
        print(case, *(f"{name} {value:,}" for name, value in peaks.items()))
        found += [peaks] if peaks["recorded"] == reserved else []
    for order in ("ascending", "descending"):
        print(f"{order}: equal in {sum(one[order] == one['recorded'] for one in found)} of {len(found)}")


if __name__ == "__main__":
    main()
