# transformers' Trainer with optim="lomo": the update is in backward
# packages: transformers, accelerate, lomo-optim
# iterations: 4
# expect: saved_bytes = 1579560 - 2*4*4*32*32
# why: the CUDA build on a GPU that computes nothing reads zeros in the mask of ones, and keeps one for each layer
import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
model = LlamaForCausalLM(LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4))
data = [{"input_ids": (x := torch.randint(0, 500, (32,))), "labels": x} for _ in range(64)]
args = TrainingArguments("/tmp/symprof_stacks", per_device_train_batch_size=4, max_steps=4, report_to=[], save_strategy="no", optim="lomo")
Trainer(model, args, train_dataset=data).train()
