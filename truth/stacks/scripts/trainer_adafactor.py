# transformers' Trainer with optim="adafactor" on a T5
# packages: transformers, accelerate
import torch
from transformers import T5Config, T5ForConditionalGeneration, Trainer, TrainingArguments
model = T5ForConditionalGeneration(T5Config(vocab_size=500, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0, dropout_rate=0.0))
data = [{"input_ids": torch.randint(0, 500, (24,)), "labels": torch.randint(0, 500, (12,))} for _ in range(64)]
args = TrainingArguments("/tmp/symprof_stacks", per_device_train_batch_size=4, max_steps=4, report_to=[], save_strategy="no", optim="adafactor")
Trainer(model, args, train_dataset=data).train()
