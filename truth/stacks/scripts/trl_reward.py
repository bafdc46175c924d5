# TRL: RewardTrainer on preference pairs
# packages: trl, datasets
import datasets
from _tokenizer import small_tokenizer
from transformers import LlamaConfig, LlamaForSequenceClassification
from trl import RewardConfig, RewardTrainer
config = LlamaConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, pad_token_id=0, num_labels=1)
def words(seed):
    return " ".join(str(3 + (seed * j) % 250) for j in range(16))
data = datasets.Dataset.from_dict({"chosen": [words(i) for i in range(32)], "rejected": [words(i + 1) for i in range(32)]})
args = RewardConfig("/tmp/symprof_stacks", per_device_train_batch_size=4, max_steps=4, report_to=[], save_strategy="no", gradient_checkpointing=False, bf16=False)
RewardTrainer(LlamaForSequenceClassification(config), args=args, train_dataset=data, processing_class=small_tokenizer()).train()
