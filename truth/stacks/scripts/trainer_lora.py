# transformers' Trainer on a PEFT LoRA model, checkpointing with input gradients, paged-free AdamW
# packages: transformers, accelerate, peft
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments
model = LlamaForCausalLM(LlamaConfig(vocab_size=1000, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4))
model.enable_input_require_grads()
model = get_peft_model(model, LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM"))
data = [{"input_ids": (x := torch.randint(0, 1000, (64,))), "labels": x} for _ in range(64)]
args = TrainingArguments("/tmp/symprof_stacks", per_device_train_batch_size=4, bf16=True, use_cpu=not torch.cuda.is_available(), gradient_checkpointing=True, max_steps=4, report_to=[], save_strategy="no")
Trainer(model, args, train_dataset=data).train()
