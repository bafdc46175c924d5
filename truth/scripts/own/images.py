"""A small convolutional network as image scripts train one: workers, pinned memory, benchmark mode, a side stream, EMA."""
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def block(inputs, outputs, stride):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


def prefetched(loader, device):
    """Batches are copied on a stream of their own, one ahead."""
    stream, ready = torch.cuda.Stream(), None
    for batch in loader:
        with torch.cuda.stream(stream):
            coming = [part.to(device, non_blocking=True) for part in batch]
            coming[0] = coming[0].float().sub_(0.5).div_(0.25)
        if ready is not None:
            yield ready
        torch.cuda.current_stream().wait_stream(stream)
        ready = coming
    yield ready


def main():
    torch.backends.cudnn.benchmark = True
    device = torch.device("cuda")
    data = TensorDataset(torch.randint(0, 2, (120, 3, 96, 96), dtype=torch.uint8), torch.randint(10, (120,)))
    model = nn.Sequential(block(3, 64, 2), block(64, 128, 2), block(128, 256, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))
    model = nn.DataParallel(model.to(device), device_ids=[0])
    average = copy.deepcopy(model.module)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for epoch in range(2):
        for images, labels in prefetched(DataLoader(data, 24, num_workers=2, pin_memory=True), device):
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            with torch.no_grad():
                torch._foreach_lerp_(list(average.parameters()), list(model.module.parameters()), 0.01)
            print(epoch, f"{loss.item():.3f}")
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
