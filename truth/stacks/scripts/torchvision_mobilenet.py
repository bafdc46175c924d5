# torchvision: MobileNetV3, RMSprop with centered moments, ExponentialMovingAverage
# packages: torchvision
import torch, torchvision
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = torchvision.models.mobilenet_v3_small(num_classes=10).to(dev)
opt = torch.optim.RMSprop(model.parameters(), lr=0.01, momentum=0.9, centered=True)
ema = torch.optim.swa_utils.AveragedModel(model)
for _ in range(4):
    loss = torch.nn.functional.cross_entropy(model(torch.randn(4, 3, 64, 64, device=dev)), torch.randint(0, 10, (4,), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema.update_parameters(model)
