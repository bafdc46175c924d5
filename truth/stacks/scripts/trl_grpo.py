# TRL: GRPOTrainer: generation, rewards on the host, then the update
# packages: trl, datasets
# bound: lengths of what is generated depend on values
# expect: fwd_flops = 2*2*4*21*(4*64*64 + 3*64*128) + 2*2*2*4*4*21*21*16 + 2*4*8*64*256
# expect: bwd_flops = 2*2*2*4*21*(4*64*64 + 3*64*128) + 5*2*2*4*4*21*21*16 + 3*2*4*8*64*256
# expect: saved_bytes = None
# why: of 13 tokens of the prompt and 8 that are generated; the CPU's loss has another path, of all tokens, and the generation is in its forward
import datasets
from _tokenizer import small_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer
config = LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, eos_token_id=1, bos_token_id=2)
data = datasets.Dataset.from_dict({"prompt": [" ".join(str(3 + (i * j) % 250) for j in range(8)) for i in range(32)]})
args = GRPOConfig("/tmp/symprof_stacks", per_device_train_batch_size=4, num_generations=4, max_steps=4, max_completion_length=8, report_to=[], save_strategy="no",
                  gradient_checkpointing=False, bf16=False)
GRPOTrainer(LlamaForCausalLM(config), reward_funcs=lambda completions, **other: [float(len(c)) for c in completions], args=args, train_dataset=data,
            processing_class=small_tokenizer()).train()
