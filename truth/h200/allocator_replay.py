"""Replays the events of PyTorch's CUDA caching allocator: what it held at any time, and that it chose by its rules."""
import bisect
import collections

# c10/core/AllocatorConfig.h, c10/cuda/CUDACachingAllocator.cpp
MIN_BLOCK = 512
SMALL_SIZE = 1 << 20
SMALL_SEGMENT = 2 << 20


def rounded(size):
    return max(MIN_BLOCK, -(-size // MIN_BLOCK) * MIN_BLOCK)


class Wrong(Exception):
    pass


class Segment:
    """Free pieces by address; pieces that touch are one."""

    def __init__(self, small, expandable):
        self.small, self.expandable = small, expandable
        self.free = {}

    def add(self, offset, size):
        for start, length in list(self.free.items()):
            if start + length == offset:
                offset, size = start, length + size
                del self.free[start]
            elif offset + size == start:
                size += length
                del self.free[start]
        self.free[offset] = size

    def cut(self, offset, size):
        for start, length in list(self.free.items()):
            if start <= offset and offset + size <= start + length:
                del self.free[start]
                if start < offset:
                    self.free[start] = offset - start
                if offset + size < start + length:
                    self.free[offset + size] = start + length - offset - size
                return
        raise Wrong(f"{size} bytes at {offset} are not free")


class Replay:
    """The allocator's figures from its own events: addresses are taken from the trace, sizes of
    blocks from its rules for splitting. It also checks that the choice of a block was best fit."""

    def __init__(self):
        self.starts, self.segments = [], {}  # ordinary ones: offset -> (size, Segment)
        self.mapped = {True: Segment(True, True), False: Segment(False, True)}
        self.live, self.pending = {}, {}
        self.allocated = self.reserved = self.requested = 0
        self.calls = 0  # allocations and frees
        self.peaks = collections.Counter()
        self.made = None  # the segment that the next allocation asked for

    def reset_peaks(self):
        self.peaks = collections.Counter(allocated=self.allocated, reserved=self.reserved, requested=self.requested)

    def apply(self, action, size, offset, next_size):
        getattr(self, action)(size, offset, next_size)
        for name in ("allocated", "reserved", "requested"):
            self.peaks[name] = max(self.peaks[name], getattr(self, name))

    def segment_alloc(self, size, offset, _):
        segment = Segment(size == SMALL_SEGMENT, False)
        segment.add(offset, size)
        self.segments[offset] = (size, segment)
        bisect.insort(self.starts, offset)
        self.reserved += size
        self.made = offset

    def segment_free(self, size, offset, _):
        held, segment = self.segments.pop(offset)
        if held != size or segment.free != {offset: size}:
            raise Wrong(f"the segment at {offset} was returned with blocks in use")
        self.starts.remove(offset)
        self.reserved -= size

    def segment_map(self, size, offset, next_size):
        self.mapped[rounded(next_size) <= SMALL_SIZE].add(offset, size)
        self.reserved += size
        self.made = offset

    def segment_unmap(self, size, offset, _):
        for segment in self.mapped.values():
            try:
                segment.cut(offset, size)
                break
            except Wrong:
                continue
        else:
            raise Wrong(f"{size} mapped bytes at {offset} were returned while in use")
        self.reserved -= size

    def owner(self, offset):
        place = bisect.bisect_right(self.starts, offset) - 1
        if place >= 0:
            start = self.starts[place]
            size, segment = self.segments[start]
            if offset < start + size:
                return segment
        for segment in self.mapped.values():
            if offset in segment.free:
                return segment
        raise Wrong(f"no segment at {offset}")

    def alloc(self, size, offset, _):
        want, segment = rounded(size), self.owner(offset)
        there = segment.free.get(offset)
        if there is None or there < want:
            raise Wrong(f"{want} bytes at {offset}: {there} are free there")
        if not segment.expandable:
            self.check_choice(want, offset)
        self.made = None
        rest = there - want
        split = rest >= MIN_BLOCK if segment.small or segment.expandable else rest > SMALL_SIZE
        block = want if split else there
        segment.cut(offset, block)
        self.live[offset] = (block, size, segment)
        self.allocated += block
        self.requested += size
        self.calls += 1

    def check_choice(self, want, offset):
        """Smallest free block that is large enough, the lowest address among equal ones."""
        small = want <= SMALL_SIZE
        fitting = [(length, start) for _, segment in self.segments.values() if segment.small == small
                   for start, length in segment.free.items() if length >= want and start != self.made]
        best = min(fitting, default=(None, self.made))[1]
        if best != offset:
            raise Wrong(f"{want} bytes went to {offset}, the best fit is at {best}")

    def free(self, size, offset, _):
        self.free_requested(size, offset, _)
        self.free_completed(size, offset, _)

    def free_requested(self, size, offset, _):
        block, asked, segment = self.live.pop(offset)
        if asked != size:
            raise Wrong(f"{size} bytes freed at {offset}, {asked} were asked for")
        self.pending[offset] = (block, asked, segment)
        self.allocated -= block
        self.calls += 1

    def free_completed(self, _, offset, __):
        block, asked, segment = self.pending.pop(offset)
        self.requested -= asked  # counted with the active bytes
        segment.add(offset, block)

    def oom(self, size, *_):
        raise Wrong(f"out of memory for {size} bytes in a case that is marked ok")


# ------------------------------------------------------------------- a check of the replay itself

MIB = 1 << 20


def hand_made(events):
    """The state after (action, size, offset) events."""
    state = Replay()
    state.reset_peaks()
    for place, (action, size, offset) in enumerate(events):
        after = next((e[1] for e in events[place + 1:] if e[0] == "alloc"), 0)
        state.apply(action, size, offset, after)
    return state


def check_replay():
    """Small traces whose figures follow from the allocator's constants."""
    small = hand_made([("segment_alloc", 2 * MIB, 0), ("alloc", 1, 0), ("alloc", 513, 512), ("free", 1, 0)])
    assert (small.allocated, small.peaks["allocated"]) == (1024, 512 + 1024)
    assert (small.requested, small.reserved) == (513, 2 * MIB)
    # What is left of a large block is split off only above 1 MiB.
    whole = hand_made([("segment_alloc", 20 * MIB, 0), ("alloc", 19 * MIB, 0)])
    assert whole.allocated == 20 * MIB
    split = hand_made([("segment_alloc", 20 * MIB, 0), ("alloc", 19 * MIB - 512, 0)])
    assert split.allocated == 19 * MIB - 512
    pages = hand_made([("segment_map", 20 * MIB, 0), ("alloc", 19 * MIB, 0), ("free", 19 * MIB, 0),
                       ("segment_unmap", 20 * MIB, 0)])
    assert (pages.peaks["allocated"], pages.peaks["reserved"], pages.reserved) == (19 * MIB, 20 * MIB, 0)
    for wrong in (
        [("segment_alloc", 2 * MIB, 0), ("alloc", 512, 0), ("alloc", 512, 0)],  # in use
        [("segment_alloc", 2 * MIB, 0), ("alloc", 512, 0), ("alloc", 512, 1024)],  # not the start of a block
        [("segment_alloc", 2 * MIB, 0), ("segment_alloc", 2 * MIB, 4 * MIB), ("alloc", 512, 4 * MIB)],  # not best
        [("segment_alloc", 2 * MIB, 0), ("alloc", 512, 0), ("segment_free", 2 * MIB, 0)],
    ):
        try:
            hand_made(wrong)
        except Wrong:
            continue
        raise AssertionError(f"accepted: {wrong}")
