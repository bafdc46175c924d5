# transformers' Trainer with optim="adamw_8bit" (bitsandbytes)
# packages: transformers, accelerate, bitsandbytes
# expect: saved_bytes = 8944168 - 2*4*4*64*64
# why: the CUDA build on a GPU that computes nothing reads zeros in the mask of ones, and keeps one for each layer
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments
model = GPT2LMHeadModel(GPT2Config(vocab_size=1000, n_embd=128, n_layer=2, n_head=4, n_positions=64, attn_pdrop=0.0))
data = [{"input_ids": (x := torch.randint(0, 1000, (64,))), "labels": x} for _ in range(64)]
args = TrainingArguments("/tmp/symprof_stacks", per_device_train_batch_size=4, max_steps=4, report_to=[], save_strategy="no", optim="adamw_8bit")
Trainer(model, args, train_dataset=data).train()
