"""Truth of pipeline schedules: the per-rank action lists that torch.distributed.pipelining 2.13 builds, and what they cost.

Writes pipelines.json: for each schedule, (ranks, stages, microbatches): `actions` of each rank as PyTorch prints them ("0F1": stage 0, forward,
microbatch 1; B full backward, I input gradient, W weight gradient; OVERLAP pairs in parentheses), and from playing them with forward 1, backward 2 (I 1, W 1), no communication time,
each action as soon as its rank is free and what it needs is there: `makespan`, `idle` of each rank, `bubble` = idle time / makespan averaged over ranks,
and `in_flight`: the largest number of microbatches of all its stages whose forward ran and whose backward (or weight gradient) has not, by rank.
GPipe and 1F1B: what their _step_microbatches does with a stage that only writes down. Their _get_pipeline_order(), which a person would ask first, is
wrong for 1F1B in 2.13: the last rank's forwards are one microbatch late (F1..Fm instead of F0..Fm-1); `pipeline_order_differs` says where.
REDUCE_GRAD and other actions without computation are left out.
"""

import json
import os

import torch
from torch.distributed.pipelining import schedules as S
from torch.distributed.pipelining.schedules import _ComputationType as K


class Stage:
    """As much of a stage as a schedule's constructor asks for."""

    def __init__(self, index, stages, ranks, rank):
        self.stage_index, self.num_stages, self.group_size, self.group_rank = index, stages, ranks, rank
        self.is_first, self.is_last, self.has_backward, self.submod, self.device = index == 0, index == stages - 1, True, torch.nn.Identity(), torch.device("cpu")
        self.stage_index_to_group_rank, self.group = {i: i % ranks for i in range(stages)}, None

    def __getattr__(self, name):
        return None


class Log(Stage):
    """A stage that writes down what a schedule makes it do."""

    def __init__(self, *args):
        super().__init__(*args)
        self.actions = []

    def forward_one_chunk(self, m, *args, **kwargs):
        self.actions.append(S._Action(self.stage_index, K.FORWARD, m))

    def backward_one_chunk(self, m, *args, **kwargs):
        self.actions.append(S._Action(self.stage_index, K.FULL_BACKWARD, m))

    def __getattr__(self, name):
        return lambda *args, **kwargs: []


def executed(cls, rank, ranks, microbatches):
    stage = Log(rank, ranks, ranks, rank)
    schedule = cls(stage, microbatches, loss_fn=lambda *a: None)
    for name in ("_initialize_stage", "_maybe_compute_loss", "_maybe_get_loss", "_update_losses"):
        setattr(schedule, name, lambda *args, **kwargs: None)
    schedule._check_inputs = lambda *args, **kwargs: ([()] * microbatches, [{}] * microbatches)
    schedule._step_microbatches()
    return stage.actions


COST = {K.FORWARD: 1, K.FULL_BACKWARD: 2, K.BACKWARD_INPUT: 1, K.BACKWARD_WEIGHT: 1}


def play(order, stages):
    """Start each action when its rank is free and its inputs are there. Times in forward units of one stage."""
    done, clock, place = {}, {r: 0 for r in order}, {r: 0 for r in order}
    busy, flying, most = {r: 0 for r in order}, {r: 0 for r in order}, {r: 0 for r in order}

    def parts(action):
        return action.sub_actions if action.computation_type == K.OVERLAP_F_B else [action]

    def ready(a):
        kind, s, m = a.computation_type, a.stage_index, a.microbatch_index
        if kind == K.FORWARD:
            return 0 if s == 0 else done.get((K.FORWARD, s - 1, m))
        if kind == K.BACKWARD_WEIGHT:
            return done.get((K.BACKWARD_INPUT, s, m))
        need = [done.get((K.FORWARD, s, m))]
        if s < stages - 1:
            need.append(done.get((K.FULL_BACKWARD, s + 1, m), done.get((K.BACKWARD_INPUT, s + 1, m))))
        return None if None in need else max(need)

    left = sum(len(v) for v in order.values())
    while left:
        moved = False
        for r, actions in order.items():
            while place[r] < len(actions):
                action = actions[place[r]]
                if action is not None:
                    ok = True
                    for a in parts(action):
                        t = ready(a)
                        if t is None:
                            ok = False
                            break
                        start = max(clock[r], t)
                        end = start + COST[a.computation_type]
                        clock[r] = end
                        busy[r] += COST[a.computation_type]
                        done[(a.computation_type, a.stage_index, a.microbatch_index)] = end
                        flying[r] += {K.FORWARD: 1, K.FULL_BACKWARD: -1, K.BACKWARD_WEIGHT: -1}.get(a.computation_type, 0)
                        most[r] = max(most[r], flying[r])
                    if not ok:
                        break
                place[r] += 1
                left -= 1
                moved = True
        if not moved:
            raise RuntimeError("deadlock")
    makespan = max(clock.values())
    idle = [makespan - busy[r] for r in order]
    return {"makespan": makespan, "idle": idle, "bubble": round(sum(idle) / len(idle) / makespan, 6), "in_flight": [most[r] for r in order]}


def order_of(name, ranks, per_rank, microbatches):
    cls, stages = S.get_schedule_class(name), ranks * per_rank
    loss = lambda *a: None
    if issubclass(cls, S.PipelineScheduleMulti):
        order = cls([Stage(i * ranks, stages, ranks, 0) for i in range(per_rank)], microbatches, loss_fn=loss).pipeline_order
        return {r: [a for a in v if a is None or a.computation_type in COST or a.computation_type == K.OVERLAP_F_B] for r, v in sorted(order.items())}, []
    order = {r: executed(cls, r, ranks, microbatches) for r in range(ranks)}
    shown = cls(Stage(0, stages, ranks, 0), microbatches, loss_fn=loss)._get_pipeline_order()
    # the run's order has no idle slots; and 1F1B runs backward before forward in its steady state where the list has them the other way round
    return order, [r for r in order if sorted(map(str, order[r])) != sorted(str(a) for a in shown[r] if a is not None and a.computation_type in COST)]


CASES = [("GPipe", 1, [(2, 4), (4, 4), (4, 8), (4, 16), (8, 16)]), ("1F1B", 1, [(2, 4), (4, 4), (4, 8), (4, 16), (8, 16)]),
         ("Interleaved1F1B", 2, [(2, 4), (4, 4), (4, 8), (4, 16), (8, 16)]), ("LoopedBFS", 2, [(2, 4), (4, 8)]),
         ("InterleavedZeroBubble", 2, [(2, 4), (4, 8), (4, 16)]), ("ZBVZeroBubble", 2, [(2, 4), (4, 8), (4, 16)]), ("DualPipeV", 2, [(2, 4), (4, 8), (4, 16)])]
rows = []
for name, per_rank, sizes in CASES:
    for ranks, microbatches in sizes:
        row = {"schedule": name, "ranks": ranks, "stages": ranks * per_rank, "microbatches": microbatches}
        try:
            order, row["pipeline_order_differs"] = order_of(name, ranks, per_rank, microbatches)
            row |= play(order, ranks * per_rank)
            if ranks * microbatches <= 32:  # small ones in full
                row["actions"] = {r: [str(a) for a in v if a is not None] for r, v in order.items()}
        except Exception as e:  # noqa: BLE001
            row["error"] = f"{type(e).__name__}: {e}"[:300]
        rows.append(row)
        print({k: v for k, v in row.items() if k != "actions"})
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "pipelines.json"), "w") as f:
    f.write("[\n" + ",\n".join(json.dumps(r) for r in rows) + "\n]\n")
