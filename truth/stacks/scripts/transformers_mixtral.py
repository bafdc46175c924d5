# Mixtral: routed experts, the router's loss
# packages: transformers
# bound: sizes depend on values
import torch
from transformers import MixtralConfig, MixtralForCausalLM
dev = "cuda" if torch.cuda.is_available() else "cpu"
config = MixtralConfig(vocab_size=500, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, num_local_experts=4,
                       num_experts_per_tok=2, output_router_logits=True)
model = MixtralForCausalLM(config).to(dev)
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
