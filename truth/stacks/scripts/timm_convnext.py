# timm: ConvNeXt with drop path, gradient checkpointing, layer decay, channels_last
# packages: timm
import timm, torch
from timm.optim import create_optimizer_v2
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = timm.create_model("convnext_atto", num_classes=10).to(dev, memory_format=torch.channels_last)
model.set_grad_checkpointing(True)
opt = create_optimizer_v2(model, opt="adamw", lr=1e-3, layer_decay=0.8)
for _ in range(4):
    x = torch.randn(2, 3, 64, 64, device=dev).to(memory_format=torch.channels_last)
    torch.nn.functional.cross_entropy(model(x), torch.randint(0, 10, (2,), device=dev)).backward()
    opt.step()
    opt.zero_grad()
