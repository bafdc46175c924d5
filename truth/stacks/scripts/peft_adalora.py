# PEFT: AdaLoRA, whose ranks are updated after each step
# packages: transformers, peft
import torch
from peft import AdaLoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = LlamaForCausalLM(LlamaConfig(vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4))
model = get_peft_model(model, AdaLoraConfig(init_r=8, target_r=4, tinit=1, tfinal=1, total_step=10, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")).to(dev)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for step in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    model.base_model.update_and_allocate(step)
    opt.zero_grad()
