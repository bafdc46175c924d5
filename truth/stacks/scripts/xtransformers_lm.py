# x-transformers: an autoregressive wrapper, rotary positions, no dropout
# packages: x-transformers
import torch
from x_transformers import AutoregressiveWrapper, Decoder, TransformerWrapper
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = AutoregressiveWrapper(TransformerWrapper(num_tokens=256, max_seq_len=64, attn_layers=Decoder(dim=64, depth=2, heads=4, rotary_pos_emb=True, attn_flash=True))).to(dev)
opt = torch.optim.Adam(model.parameters(), 1e-4)
for _ in range(4):
    for _ in range(2):
        (model(torch.randint(0, 256, (2, 65), device=dev)) / 2).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    opt.step()
    opt.zero_grad()
