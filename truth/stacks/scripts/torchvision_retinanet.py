# torchvision: RetinaNet (one stage, focal loss)
# packages: torchvision
# bound: sizes depend on values
import torch, torchvision
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = torchvision.models.detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None, num_classes=4, min_size=96, max_size=128).to(dev).train()
opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.005, momentum=0.9)
for _ in range(3):
    images = [torch.rand(3, 96, 128, device=dev) for _ in range(2)]
    targets = [dict(boxes=torch.tensor([[5.0, 8.0, 50.0, 60.0]], device=dev), labels=torch.tensor([2], device=dev)) for _ in range(2)]
    loss = sum(model(images, targets).values())
    opt.zero_grad()
    loss.backward()
    opt.step()
