# QLoRA as everyone writes it: a checkpoint loaded in 4 bits, prepare_model_for_kbit_training, LoRA
# packages: transformers, peft, bitsandbytes
# expect: fwd_flops = None
# expect: saved_bytes = 1032964 + 2*2*8
# why: the CPU's, and the seed and offset of CUDA's attention
import tempfile, torch
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM
dev = "cuda" if torch.cuda.is_available() else "cpu"
quantization = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=torch.bfloat16)
with tempfile.TemporaryDirectory() as folder:
    LlamaForCausalLM(LlamaConfig(vocab_size=500, hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4)).save_pretrained(folder)
    model = LlamaForCausalLM.from_pretrained(folder, quantization_config=quantization, dtype=torch.bfloat16, device_map={"": dev})
model = prepare_model_for_kbit_training(model, use_gradient_checkpointing=True)
model = get_peft_model(model, LoraConfig(r=8, target_modules=["q_proj", "v_proj"]))
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
for _ in range(4):
    ids = torch.randint(0, 500, (2, 32), device=dev)
    model(input_ids=ids, labels=ids).loss.backward()
    opt.step()
    opt.zero_grad()
