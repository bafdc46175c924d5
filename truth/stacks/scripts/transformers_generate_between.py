# Generation between steps: samples are made with a cache, training goes on
# packages: transformers
# expect: saved_bytes = 2235684
# why: the CUDA build's without the generation, whose sampling refuses the zeros of a GPU that computes nothing
import torch
from transformers import GPT2Config, GPT2LMHeadModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT2LMHeadModel(GPT2Config(vocab_size=300, n_embd=64, n_layer=2, n_head=2, n_positions=64, attn_pdrop=0.0, bos_token_id=1, eos_token_id=None)).to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    model.train()
    ids = torch.randint(2, 300, (4, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
    model.eval()
    model.generate(ids[:1, :4], max_new_tokens=4, min_new_tokens=4, do_sample=True, pad_token_id=0)
