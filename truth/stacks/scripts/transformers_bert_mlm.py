# BERT, masked language modelling with a collator, a loop by hand, polynomial decay
# packages: transformers
# expect: saved_bytes = 2939300 - 2*4*4*48*48
# why: the CUDA build on a GPU that computes nothing reads zeros in the mask of ones, and keeps one for each layer
import torch
from transformers import BertConfig, BertForMaskedLM, get_polynomial_decay_schedule_with_warmup
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = BertForMaskedLM(BertConfig(vocab_size=800, hidden_size=96, num_hidden_layers=2, num_attention_heads=4, intermediate_size=192, attention_probs_dropout_prob=0.0)).to(dev)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
schedule = get_polynomial_decay_schedule_with_warmup(opt, 2, 10)
for _ in range(4):
    ids = torch.randint(5, 800, (4, 48))
    labels = torch.where(torch.rand(ids.shape) < 0.15, ids, -100)
    batch = dict(input_ids=torch.where(labels > 0, 4, ids), labels=labels, attention_mask=torch.ones_like(ids))
    loss = model(**{k: v.to(dev) for k, v in batch.items()}).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    schedule.step()
    opt.zero_grad()
