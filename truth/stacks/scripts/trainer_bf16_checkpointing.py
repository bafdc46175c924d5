# transformers' Trainer: bf16, gradient checkpointing, accumulation of two, fused AdamW
# packages: transformers, accelerate
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM, Trainer, TrainingArguments
model = Qwen2ForCausalLM(Qwen2Config(vocab_size=1000, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2))
data = [{"input_ids": (x := torch.randint(0, 1000, (64,))), "labels": x} for _ in range(64)]
args = TrainingArguments("/tmp/symprof_stacks", per_device_train_batch_size=4, gradient_accumulation_steps=2, bf16=True, use_cpu=not torch.cuda.is_available(), gradient_checkpointing=True,
                         max_steps=4, report_to=[], save_strategy="no", logging_steps=1)
Trainer(model, args, train_dataset=data).train()
