"""What a program does to a model before its first step: PyTorch's engines, and the parameters on the GPU."""
import torch
import torch.nn as nn
from torch.distributed._composable import checkpoint
from torch.distributed._composable.replicate_with_fsdp import replicate
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage
from torch.distributed.pipelining.schedules import get_schedule_class
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.parallel import ColwiseParallel, PrepareModuleInput, RowwiseParallel, SequenceParallel, parallelize_module


def move(module):
    """As to_empty(), but a tensor that two modules share is made once."""
    made = {}

    def on_gpu(tensor):
        if tensor not in made:
            made[tensor] = torch.empty_like(tensor, device="cuda")
        return made[tensor]

    return module._apply(on_gpu)


def tensor_parallel(model, mesh, sequence, loss=False):
    plan = {f"layers.*.attention.{w}": ColwiseParallel() for w in ("wq", "wk", "wv")}
    plan |= {f"layers.*.feed_forward.{w}": ColwiseParallel() for w in ("w1", "w3")}
    if not sequence:
        plan |= {"layers.*.attention.wo": RowwiseParallel(), "layers.*.feed_forward.w2": RowwiseParallel()}
    else:
        one = lambda: PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(Replicate(),))
        plan |= {"tok": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)), "norm": SequenceParallel(),
                 "output": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
                 "layers.*.attention_norm": SequenceParallel(), "layers.*.ffn_norm": SequenceParallel(),
                 "layers.*.attention": one(), "layers.*.feed_forward": one(),
                 "layers.*.attention.wo": RowwiseParallel(output_layouts=Shard(1)), "layers.*.feed_forward.w2": RowwiseParallel(output_layouts=Shard(1))}
    if loss:  # The logits stay split by words: loss_parallel.
        plan["output"] = ColwiseParallel(input_layouts=Shard(1) if sequence else Replicate(), output_layouts=Shard(-1), use_local_output=False)
    return parallelize_module(model, mesh, plan)


def shard(model, mesh, config):
    dtype = lambda key: getattr(torch, config[key]) if config.get(key) else None
    options = {"mesh": mesh, "mp_policy": MixedPrecisionPolicy(param_dtype=dtype("param_dtype"), reduce_dtype=dtype("reduce_dtype"))}
    if "reshard_after_forward" in config:
        options["reshard_after_forward"] = config["reshard_after_forward"]
    if not config.get("root_only"):
        for layer in model.layers.values():
            fully_shard(layer, **options)
    return fully_shard(model, **options)


def replicate_layers(model, mesh):
    """DistributedDataParallel takes no DTensors."""
    for layer in model.layers.values():
        replicate(layer, mesh=mesh)
    return replicate(model, mesh=mesh)


def keep_stage(model, m, config):
    """The layers of one stage: a decoder whose other layers are gone."""
    rank, world = config.get("rank", 0), config["world"]
    per = m["layers"] // world
    for i in list(model.layers):
        if int(i) // per != rank:
            del model.layers[i]
    model.tok = model.tok if rank == 0 else None
    model.norm, model.output = (model.norm, model.output) if rank == world - 1 else (None, None)


def make_schedule(model, m, config, loss_of):
    """A stage with its schedule; its copies or shards lie on the second dimension of the mesh."""
    rank, world = config.get("rank", 0), config["world"]
    micro = m["batch"] // config["microbatches"]
    tokens = torch.empty(micro, m["sequence"], dtype=torch.long, device="meta")
    sent = {"device": "meta", "dtype": getattr(torch, config.get("param_dtype", "float32")), "requires_grad": True}
    hidden, logits = (torch.empty(micro, m["sequence"], m[size], **sent) for size in ("width", "vocab"))
    group = None
    if config.get("data"):
        mesh = init_device_mesh("cuda", (world, config["data_ranks"]), mesh_dim_names=("pp", "dp"))
        group = mesh["pp"].get_group()
    if config.get("data") == "ddp":
        model = nn.parallel.DistributedDataParallel(model, process_group=mesh["dp"].get_group(), gradient_as_bucket_view=True)
    elif config.get("data") == "fsdp":
        shard(model, mesh["dp"], config)
        model.to_empty(device="cuda")
    first, last = rank == 0, rank == world - 1
    stage = PipelineStage(model, rank, world, torch.device("cuda:0"), input_args=(tokens if first else hidden,), output_args=(logits if last else hidden,), group=group)
    # All ranks vote for static shapes; the product is computed by a kernel, so it is said here.
    vote = stage._warmup_backward_result
    stage._warmup_backward_result = lambda received_result=None: (vote(received_result), torch.ones(1))[1]
    return model, get_schedule_class(config["schedule"])(stage, config["microbatches"], loss_fn=loss_of)


def distribute_data(model, config, uses_fake_group):
    options = {k: config[k] for k in ("gradient_as_bucket_view", "bucket_cap_mb", "static_graph", "init_sync") if k in config}
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0], **options)
    if uses_fake_group:  # the future of backend "fake" has no value, which DDP's own all-reduce refuses
        def hook(state, bucket):
            torch.distributed.all_reduce(bucket.buffer())
            future = torch.futures.Future()
            future.set_result(bucket.buffer())
            return future

        model.register_comm_hook(None, hook)
    return model


def apply_engine(model, m, config, loss_of, uses_fake_group):
    """The model as the engine has it, on the GPU, and the schedule of a pipeline."""
    kind, world = config["kind"], config["world"]
    if kind == "pp":
        keep_stage(model, m, config)
    if config.get("checkpoint"):
        for layer in model.layers.values():
            checkpoint(layer)
    if kind in ("none", "ddp") or kind == "pp" and config.get("data") != "fsdp":
        move(model)
    if kind == "pp":
        return make_schedule(model, m, config, loss_of)
    if kind == "ddp":
        model = distribute_data(model, config, uses_fake_group)
    elif kind == "fsdp":
        shard(model, init_device_mesh("cuda", (world,)), config)
    elif kind == "hsdp":
        shard(model, init_device_mesh("cuda", (2, world // 2), mesh_dim_names=("replicate", "shard")), config)
    elif kind == "tp":
        tensor_parallel(model, init_device_mesh("cuda", (world,)), config.get("sequence"), config.get("loss"))
    elif kind in ("fsdp_tp", "ddp_tp"):
        mesh = init_device_mesh("cuda", (world // config["tp"], config["tp"]), mesh_dim_names=("dp", "tp"))
        tensor_parallel(model, mesh["tp"], config.get("sequence", kind == "fsdp_tp"))
        shard(model, mesh["dp"], config) if kind == "fsdp_tp" else replicate_layers(model, mesh["dp"])
    if kind in ("fsdp", "hsdp", "tp", "fsdp_tp", "ddp_tp"):
        move(model) if m.get("tied") else model.to_empty(device="cuda")
    return model, None
