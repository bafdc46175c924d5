"""FlexAttention with a sliding window and with a bias of distance, each compiled alone, in an eager model."""
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

HEADS, TOKENS, SIDE, WINDOW = 8, 1024, 64, 256
attend = torch.compile(flex_attention, dynamic=False)


def in_window(batch, head, query, key):
    return (query >= key) & (query - key <= WINDOW)


def with_distance(score, batch, head, query, key):
    return score + (key - query) * torch.exp2(-(head + 1) * 8.0 / HEADS)


class Layer(nn.Module):
    def __init__(self, score=None, mask=None):
        super().__init__()
        self.qkv, self.out = nn.Linear(HEADS * SIDE, 3 * HEADS * SIDE), nn.Linear(HEADS * SIDE, HEADS * SIDE)
        self.score, self.mask = score, mask

    def forward(self, x):
        q, k, v = self.qkv(x).view(x.shape[0], TOKENS, 3, HEADS, SIDE).permute(2, 0, 3, 1, 4)
        seen = attend(q, k, v, score_mod=self.score, block_mask=self.mask)
        return x + self.out(seen.transpose(1, 2).flatten(2))


def main():
    mask = create_block_mask(in_window, None, None, TOKENS, TOKENS, device="cuda")
    model = nn.Sequential(Layer(mask=mask), Layer(score=with_distance), Layer(score=with_distance, mask=mask)).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(4):
        x = torch.randn(4, TOKENS, HEADS * SIDE).cuda().bfloat16()
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
