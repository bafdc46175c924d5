# PEFT: prefix tuning with a projection
# packages: transformers, peft
import torch
from peft import PrefixTuningConfig, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_embd=64, n_layer=2, n_head=4, n_positions=64, attn_pdrop=0.0))
model = get_peft_model(model, PrefixTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=8, prefix_projection=True, encoder_hidden_size=32)).to(dev)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
