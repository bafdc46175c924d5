# A DataLoader with workers, pinned memory and a collate function, a progress bar's loss read each step, islice
# packages: torch
import itertools, torch
from torch import nn
dev = "cuda" if torch.cuda.is_available() else "cpu"
class Words(torch.utils.data.Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, place):
        return torch.randint(1, 100, (8 + place % 8,)), place % 3
def collate(rows):
    ids = nn.utils.rnn.pad_sequence([ids for ids, _ in rows], batch_first=True)
    ids = nn.functional.pad(ids, (0, 16 - ids.shape[1]))
    return {"ids": ids, "mask": ids == 0, "label": torch.tensor([label for _, label in rows])}
if __name__ == "__main__":
    embed = nn.Embedding(100, 32, padding_idx=0).to(dev)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True, norm_first=True), 2, enable_nested_tensor=False).to(dev)
    head = nn.Linear(32, 3).to(dev)
    opt = torch.optim.AdamW([*embed.parameters(), *encoder.parameters(), *head.parameters()], fused=dev == "cuda")
    loader = torch.utils.data.DataLoader(Words(), 8, num_workers=2, pin_memory=dev == "cuda", collate_fn=collate, persistent_workers=True, drop_last=True)
    for batch in itertools.islice(loader, 4):
        batch = {key: value.to(dev, non_blocking=True) for key, value in batch.items()}
        hidden = encoder(embed(batch["ids"]), src_key_padding_mask=batch["mask"])
        weights = (~batch["mask"]).float().unsqueeze(-1)
        loss = nn.functional.cross_entropy(head((hidden * weights).sum(1) / weights.sum(1)), batch["label"])
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(loss.item())
