# torchvision: Mask R-CNN with literal boxes
# packages: torchvision
# bound: sizes depend on values
import torch, torchvision
dev = "cuda" if torch.cuda.is_available() else "cpu"
model = torchvision.models.detection.maskrcnn_resnet50_fpn(weights=None, weights_backbone=None, num_classes=4, min_size=128, max_size=160).to(dev).train()
opt = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.005, momentum=0.9)
for _ in range(3):
    images = [torch.rand(3, 128, 160, device=dev) for _ in range(2)]
    targets = [dict(boxes=torch.tensor([[10.0, 12.0, 60.0, 70.0], [50.0, 40.0, 120.0, 100.0]], device=dev), labels=torch.tensor([1, 3], device=dev),
                    masks=torch.ones(2, 128, 160, dtype=torch.uint8, device=dev)) for _ in range(2)]
    loss = sum(model(images, targets).values())
    opt.zero_grad()
    loss.backward()
    opt.step()
