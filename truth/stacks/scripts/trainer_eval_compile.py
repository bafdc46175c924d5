# transformers' Trainer: classification with torch_compile, an evaluation after each step, warm-up, label smoothing
# packages: transformers, accelerate
import torch
from transformers import DistilBertConfig, DistilBertForSequenceClassification, Trainer, TrainingArguments
model = DistilBertForSequenceClassification(DistilBertConfig(vocab_size=1000, dim=128, hidden_dim=256, n_layers=2, n_heads=4, num_labels=3, attention_dropout=0.0))
data = [{"input_ids": torch.randint(0, 1000, (32,)), "labels": i % 3} for i in range(64)]
args = TrainingArguments("/tmp/symprof_stacks", per_device_train_batch_size=8, torch_compile=True, max_steps=5, report_to=[], eval_strategy="steps", eval_steps=1,
                         save_strategy="no", label_smoothing_factor=0.1, warmup_steps=2)
Trainer(model, args, train_dataset=data, eval_dataset=data[:16]).train()
