# DeepSpeed: ZeRO stage 3, parameters gathered for each module
# packages: deepspeed
# expect: fwd_flops = 2*2*8*256*1024
# expect: bwd_flops = 3*2*8*256*1024
# expect: optimizer_bytes = 2*4*(2*256*1024 + 1024 + 256)
# expect: saved_bytes = 8*(256*2 + 1024*2 + 1024*2 + 256*4)
# why: stage 3 compares lengths that it reads from the device, all 0 on a stub driver; weights are gathered again
import os
import deepspeed, torch
os.environ.update(RANK="0", WORLD_SIZE="1", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT="29633")
model = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
config = {"train_micro_batch_size_per_gpu": 8, "gradient_accumulation_steps": 1, "bf16": {"enabled": True}, "gradient_clipping": 1.0,
          "zero_optimization": {"stage": 3, "reduce_bucket_size": 1000000}, "zero_allow_untested_optimizer": True}
engine, *_ = deepspeed.initialize(model=model, optimizer=torch.optim.AdamW(model.parameters()), config=config)
for _ in range(4):
    loss = engine(torch.randn(8, 256, device=engine.device, dtype=torch.bfloat16)).float().pow(2).mean()
    engine.backward(loss)
    engine.step()
