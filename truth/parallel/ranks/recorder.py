"""What a step of one rank asked of the allocator, and its collectives."""
import collections
import gzip
import re

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode


def nbytes(x):
    if isinstance(x, torch.Tensor):
        return x.numel() * x.element_size()
    return sum(map(nbytes, x)) if isinstance(x, (list, tuple)) else 0


def make_recorder():
    class Recorder(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.phase, self.rows = "forward", []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if any(t.__name__ == "DTensor" for t in types):
                return NotImplemented
            out = func(*args, **(kwargs or {}))
            space, name = func._schema.name.split("::") if hasattr(func, "_schema") else ("", "")
            if space in ("c10d", "_c10d_functional") and name not in ("wait_tensor", "_wrap_tensor_autograd"):
                group = next((a for a in args if isinstance(a, torch.ScriptObject) and "ProcessGroup" in str(a._type())), None)
                size = dist.ProcessGroup.unbox(group).size() if group is not None else next(
                    (dist.distributed_c10d._resolve_process_group(a).size() for a in reversed(args) if isinstance(a, str)), None)
                flat = []
                blocks = [b for s in torch.cuda.memory.memory_snapshot(include_traces=False) for b in ({**b, "stream": s["stream"]} for b in s["blocks"])]

                def block_of(address):
                    return next(([b["size"], b["stream"]] for b in blocks if b["address"] <= address < b["address"] + b["size"]), None)

                def collect(x):
                    if isinstance(x, torch.Tensor):
                        flat.append((nbytes(x), block_of(x.data_ptr())))
                    elif isinstance(x, (list, tuple)):
                        for y in x:
                            collect(y)

                for a in args:
                    collect(a)
                row = {"phase": self.phase, "op": f"{space}::{name}", "group": size, "on": torch.cuda.current_stream().cuda_stream}
                if name in ("_allgather_base_", "_reduce_scatter_base_"):
                    row |= {"out": flat[0], "in": flat[1]}
                elif space == "c10d":
                    row |= {"out": flat[0]} if name == "recv_" else {"in": flat[0]}
                else:
                    collect(out)
                    row |= {"in": flat[0], "out": flat[-1]}
                self.rows.append(row)
            return out

    return Recorder()


KINDS = (  # first match from the innermost frame outwards: (file, function) -> kind
    (r"_fsdp_collectives\.py", r"foreach_all_gather_copy_out", "fsdp_copy_out_temporary"),
    (r"_fsdp_collectives\.py", r"_get_param_all_gather_inputs", "fsdp_all_gather_input_cast"),
    (r"_fsdp_collectives\.py", r"foreach_all_gather", "fsdp_all_gather_output"),
    (r"_fsdp_collectives\.py", r"foreach_reduce_scatter_copy_in", "fsdp_copy_in_temporary"),
    (r"_fsdp_collectives\.py", r"foreach_reduce", "fsdp_reduce"),
    (r"_fsdp_param\.py", r"to_sharded_post_forward", "fsdp_post_forward_shard"),
    (r"pipelining/microbatch\.py", r"merge_chunks", "pipeline_merged_output"),
    (r"_fsdp_param\.py", r"init_all_gather_outputs|alloc_all_gather_outputs|alloc_storage|init_unsharded_param", "fsdp_unsharded_parameter"),
    (r"nn/parallel/distributed\.py", r".*", "ddp"),
    (r"pipelining/stage\.py", r".*(recv|_make_tensor|_prepare_|_create_|init).*", "pipeline_receive_buffer"),
    (r"_functional_collectives\.py", r".*", "functional_collective"),
    (r"optim/", r"_init_group", "optimizer_state"),
    (r"optim/", r".*", "optimizer_temporary"),
    (r"clip_grad\.py", r".*", "clip"),
    (r"ranks/step\.py", r"make_inputs", "input"),
    (r"ranks/engines\.py", r"move|on_gpu", "parameter"),
    (r"nn/modules/module\.py", r"to_empty", "parameter"),
    (r"autograd/graph\.py", r"_engine_run_backward", "backward"),
    (r"functional\.py", r"cross_entropy", "loss"),
    (r"ranks/models\.py", r"forward", "forward"),
    (r"ranks/step\.py", r"loss_of_tokens", "loss"),
    (r"ranks/step\.py", r"run_case|run|run_passes|run_schedule|accumulate", "other"),
)


def kind_of(frames, cache={}):  # noqa: B006 - kept between calls
    for frame in frames:
        key = (frame["filename"], frame["name"])
        if key not in cache:
            cache[key] = next((kind for file, function, kind in KINDS if re.search(file, key[0]) and re.fullmatch(function, key[1])), None)
        if cache[key]:
            return cache[key]
    return "backward" if not frames else "other"


def explain(trace, marks, recorder, names, events_path):
    live, allocated, best, best_live = {}, 0, -1, None
    lines, numbers, tops = [], {}, {}
    name_of = lambda stream: names.setdefault(stream, f"stream{len(names)}")
    last = ([0, *marks])[-2]
    for i, e in enumerate(trace):
        stream, action, size, kind = name_of(e["stream"]), e["action"], e["size"], ""
        rounded = max(512, (size + 511) // 512 * 512)
        if action == "alloc":
            kind = kind_of(e.get("frames", []))
            if kind == "fsdp_reduce":  # the input is taken on the stream of backward, the output on another
                kind = "fsdp_reduce_scatter_input" if stream == "compute" else "fsdp_reduce_scatter_output" if stream == "reduce_scatter" else "fsdp_gradient_cast"
            live[e["addr"]] = (rounded, kind, stream)
            allocated += rounded
            tops[(kind, stream)] = max(tops.get((kind, stream), 0), rounded)
            if i >= last and allocated > best:
                best, best_live = allocated, dict(live)
        elif action == "free_completed":
            gone = live.pop(e["addr"], None)
            allocated -= gone[0] if gone else 0
        if events_path and i >= last and action in ("alloc", "free_requested", "free_completed", "segment_alloc", "segment_free"):
            lines.append(f"{action},{numbers.setdefault(e['addr'], len(numbers))},{size},{stream},{kind}\n")
    by_kind = collections.Counter()
    for rounded, kind, stream in best_live.values():
        by_kind[kind if stream == "compute" else f"{kind}@{stream}"] += rounded
    if events_path:
        with open(events_path, "wb") as f, gzip.GzipFile("", "wb", mtime=0, fileobj=f) as packed:
            packed.write("".join(["action,address,bytes,stream,kind\n", *lines]).encode())
    rows = []
    for row in recorder.rows:
        made = {"phase": row["phase"], "op": row["op"], "group": row["group"], "on": name_of(row["on"])}
        for side in ("in", "out"):
            if side in row:
                made[f"{side}_bytes"] = row[side][0]
                made[f"{side}_block"] = row[side][1] and [row[side][1][0], name_of(row[side][1][1])]
        if rows and {k: v for k, v in rows[-1].items() if k != "times"} == made:
            rows[-1]["times"] += 1
        else:
            rows.append({**made, "times": 1})
    return {"at_peak": dict(sorted(by_kind.items(), key=lambda kv: -kv[1])), "at_peak_sum": best, "collectives": rows}
