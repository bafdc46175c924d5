# PEFT: prompt tuning of a causal model
# packages: transformers, peft
# expect: saved_bytes = 1222820 - 2*4*2*40*40
# why: the CUDA build on a GPU that computes nothing reads zeros in the mask of ones, and keeps one for each layer
import torch
from peft import PromptTuningConfig, TaskType, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = GPT2LMHeadModel(GPT2Config(vocab_size=500, n_embd=64, n_layer=2, n_head=4, n_positions=64, attn_pdrop=0.0))
model = get_peft_model(model, PromptTuningConfig(task_type=TaskType.CAUSAL_LM, num_virtual_tokens=8)).to(dev)
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
