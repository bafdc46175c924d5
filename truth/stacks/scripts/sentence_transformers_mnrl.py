# sentence-transformers' losses on a small BERT: in-batch negatives
# packages: sentence-transformers
import tempfile, torch
from _tokenizer import small_tokenizer
from sentence_transformers import SentenceTransformer, losses, models
from transformers import BertConfig, BertModel
dev = "cuda" if torch.cuda.is_available() else "cpu"
with tempfile.TemporaryDirectory() as folder:
    BertModel(BertConfig(vocab_size=256, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, attention_probs_dropout_prob=0.0)).save_pretrained(folder)
    small_tokenizer().save_pretrained(folder)
    words = models.Transformer(folder, max_seq_length=24)
model = SentenceTransformer(modules=[words, models.Pooling(64)], device=dev)
loss_of = losses.MultipleNegativesRankingLoss(model)
opt = torch.optim.AdamW(model.parameters(), lr=2e-5)
def batch(seed):
    made = model.tokenize([" ".join(str(3 + (seed + i * j) % 250) for j in range(12)) for i in range(8)])
    return {k: v.to(dev) if torch.is_tensor(v) else v for k, v in made.items()}
model.train()
for _ in range(4):
    loss = loss_of([batch(1), batch(2)], None)
    opt.zero_grad()
    loss.backward()
    opt.step()
