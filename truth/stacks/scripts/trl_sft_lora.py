# TRL: SFTTrainer with a PEFT configuration, gradient checkpointing, accumulation
# packages: trl, datasets, peft
# expect: saved_bytes = 74218 + 94*(4*64 + 8 + 4 + 4)
# why: the CUDA build's on a GPU that computes nothing, where none of the 94 tokens counts for the loss
import datasets, torch
from _tokenizer import small_tokenizer
from peft import LoraConfig
from transformers import LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer
config = LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, eos_token_id=1, bos_token_id=2)
data = datasets.Dataset.from_dict({"input_ids": [[3 + (i * j) % 250 for j in range(48)] for i in range(64)]})
args = SFTConfig("/tmp/symprof_stacks", per_device_train_batch_size=2, gradient_accumulation_steps=2, max_steps=4, max_length=48, report_to=[], save_strategy="no", bf16=True, use_cpu=not torch.cuda.is_available())
SFTTrainer(LlamaForCausalLM(config), args=args, train_dataset=data, processing_class=small_tokenizer(), peft_config=LoraConfig(r=4)).train()
