# QLoRA as everyone writes it: BitsAndBytesConfig-like replacement, prepare_model_for_kbit_training, LoRA, paged AdamW
# packages: transformers, peft, bitsandbytes
# expect: fwd_flops = None
import torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations import replace_with_bnb_linear
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = LlamaForCausalLM(LlamaConfig(vocab_size=500, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4)).bfloat16()
config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
model = replace_with_bnb_linear(model, modules_to_not_convert=["lm_head"], quantization_config=config)
model = model.to_empty(device="cpu").to(dev) if any(p.is_meta for p in model.parameters()) else model.to(dev)
model.is_loaded_in_4bit = True
model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=True)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"]))
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
