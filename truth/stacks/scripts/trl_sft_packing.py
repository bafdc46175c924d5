# TRL: SFTTrainer with packing and completion of text by a small tokenizer
# packages: trl, datasets
# expect: saved_bytes = 1097386 - 2*2*2*64*64 + 2*(24 - 16) + 126*(4*64 + 8 + 4 + 4)
# why: the CUDA build on a GPU that computes nothing keeps a mask and another attention's seeds in both layers, and no token of the 126 for the loss
import datasets, torch
from _tokenizer import small_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from trl import SFTConfig, SFTTrainer
config = LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, eos_token_id=1, bos_token_id=2)
data = datasets.Dataset.from_dict({"text": [" ".join(str(3 + (i * j) % 250) for j in range(20 + i % 9)) for i in range(120)]})
args = SFTConfig("/tmp/symprof_stacks", per_device_train_batch_size=2, max_steps=4, max_length=64, packing=True, packing_strategy="wrapped", report_to=[],
                 save_strategy="no", gradient_checkpointing=False, bf16=True, use_cpu=not torch.cuda.is_available())
SFTTrainer(LlamaForCausalLM(config), args=args, train_dataset=data, processing_class=small_tokenizer()).train()
