"""torchao's AdamW with states of 8 bits, which compiles its update of each parameter; the model is compiled by blocks."""
import torch
from torch import nn
from torchao.optim import AdamW8bit


def main():
    layer = nn.TransformerEncoderLayer(512, 8, 2048, batch_first=True, norm_first=True, activation="gelu")
    model = nn.Sequential(nn.Embedding(10000, 512), nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(512, 10000)).cuda()
    for block in model[1].layers:
        block.compile()
    optimizer = AdamW8bit(model.parameters(), lr=1e-3)
    for _ in range(4):
        tokens = torch.randint(10000, (8, 256)).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
