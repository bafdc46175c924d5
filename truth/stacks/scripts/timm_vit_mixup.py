# timm: a small ViT, Mixup with soft targets, ModelEmaV3, create_optimizer_v2 with LAMB
# packages: timm
import timm, torch
from timm.data import Mixup
from timm.loss import SoftTargetCrossEntropy
from timm.optim import create_optimizer_v2
from timm.utils import ModelEmaV3
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = timm.create_model("vit_tiny_patch16_224", img_size=64, num_classes=10, depth=2).to(dev)
ema, opt = ModelEmaV3(model, decay=0.99), create_optimizer_v2(model, opt="lamb", lr=1e-3, weight_decay=0.05)
mixup, loss_of = Mixup(mixup_alpha=0.2, cutmix_alpha=1.0, num_classes=10, label_smoothing=0.1), SoftTargetCrossEntropy()
for _ in range(4):
    x, y = mixup(torch.randn(8, 3, 64, 64, device=dev), torch.randint(0, 10, (8,), device=dev))
    with torch.autocast(dev, torch.bfloat16):
        loss = loss_of(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update(model)
