# PEFT: IA3 on a T5
# packages: transformers, peft
import torch
from peft import IA3Config, TaskType, get_peft_model
from transformers import T5Config, T5ForConditionalGeneration
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = T5ForConditionalGeneration(T5Config(vocab_size=400, d_model=64, d_kv=16, d_ff=128, num_layers=2, num_heads=4, decoder_start_token_id=0))
model = get_peft_model(model, IA3Config(task_type=TaskType.SEQ_2_SEQ_LM, target_modules=["k", "v", "wo"], feedforward_modules=["wo"])).to(dev)
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
for _ in range(4):
    model(input_ids=torch.randint(0, 400, (2, 24), device=dev), labels=torch.randint(0, 400, (2, 10), device=dev)).loss.backward()
    opt.step()
    opt.zero_grad()
