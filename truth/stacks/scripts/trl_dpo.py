# TRL: DPOTrainer with its own reference model
# packages: trl, datasets
# expect: fwd_flops = 65601536 + 2*84*2*64*256
# expect: bwd_flops = 67584000 + 3*84*2*64*256
# expect: saved_bytes = 1433116 + 84*(4*64 + 8 + 4 + 4)
# why: the CUDA build's on a GPU that computes nothing, where none of the 84 tokens of the third batch counts for the loss; the CPU has another path, of all tokens
import datasets, torch
from _tokenizer import small_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from trl import DPOConfig, DPOTrainer
config = LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, eos_token_id=1, bos_token_id=2)
def words(n, seed):
    return " ".join(str(3 + (seed * j) % 250) for j in range(n))
data = datasets.Dataset.from_dict({"prompt": [words(10, i) + " " for i in range(32)], "chosen": [words(12, i + 1) for i in range(32)], "rejected": [words(12, i + 2) for i in range(32)]})
args = DPOConfig("/tmp/symprof_stacks", per_device_train_batch_size=2, max_steps=4, report_to=[], save_strategy="no", gradient_checkpointing=False, bf16=True, use_cpu=not torch.cuda.is_available())
DPOTrainer(LlamaForCausalLM(config), ref_model=LlamaForCausalLM(config), args=args, train_dataset=data, processing_class=small_tokenizer()).train()
