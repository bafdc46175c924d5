"""A small language model with accumulated gradients in fp16, a scaler, clipping, and a checkpoint after each epoch."""
import tempfile

import torch
from torch import nn

WIDTH, TOKENS, WORDS = 256, 128, 5000


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 3)
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1], device=tokens.device)
        return self.head(self.layers(self.words(tokens), mask=mask, is_causal=True))


@torch.inference_mode()
def evaluate(model):
    model.eval()
    loss = model(torch.randint(WORDS, (8, TOKENS)).cuda()).float().mean()
    model.train()
    return loss.item()


def main():
    model = torch.compile(Model().cuda())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cuda")
    for _ in range(3):
        for _ in range(2):
            for _ in range(2):
                tokens = torch.randint(WORDS, (8, TOKENS + 1)).pin_memory().cuda(non_blocking=True)
                with torch.autocast("cuda", dtype=torch.float16):
                    scores = model(tokens[:, :-1])
                    loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
                scaler.scale(loss / 2).backward()
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
        print(loss, evaluate(model), torch.cuda.max_memory_allocated())
        with tempfile.TemporaryFile() as file:
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)


if __name__ == "__main__":
    main()
