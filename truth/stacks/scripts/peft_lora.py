# PEFT: LoRA on a GPT-2, only the adapters trained, gradient clipping
# packages: transformers, peft
import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_embd=64, n_layer=2, n_head=4, n_positions=64, attn_pdrop=0.0))
model = get_peft_model(model, LoraConfig(r=4, target_modules=["c_attn", "c_fc"], fan_in_fan_out=True, lora_dropout=0.05, task_type="CAUSAL_LM")).to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    opt.zero_grad()
