# Liger's Triton kernels in a LLaMA: RMS norm, SwiGLU, rotary embedding, fused linear cross-entropy
# packages: transformers, liger-kernel
# expect: fwd_flops = None
import torch
from liger_kernel.transformers import apply_liger_kernel_to_llama
apply_liger_kernel_to_llama()
from transformers import LlamaConfig, LlamaForCausalLM
model = LlamaForCausalLM(LlamaConfig(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4)).cuda().bfloat16()
opt = torch.optim.AdamW(model.parameters())
for _ in range(4):
    ids = torch.randint(0, 512, (2, 64), device="cuda")
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
