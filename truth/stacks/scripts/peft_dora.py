# PEFT: DoRA with rank-stabilized scaling and a trained norm
# packages: transformers, peft
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = LlamaForCausalLM(LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4))
model = get_peft_model(model, LoraConfig(r=4, use_dora=True, use_rslora=True, target_modules=["q_proj", "v_proj", "down_proj"], modules_to_save=["norm"])).to(dev)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
