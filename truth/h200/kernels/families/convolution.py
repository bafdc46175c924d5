"""Convolutions of the usual networks: forward, gradient of the input, gradient of the weight."""
import itertools
import random

from kernels.families.common import BYTES, operand

# channels in, height = width, channels out, kernel, stride, padding, groups, dilation
RESNET = [(3, 224, 64, 7, 2, 3, 1, 1), (64, 56, 64, 1, 1, 0, 1, 1), (64, 56, 64, 3, 1, 1, 1, 1),
          (64, 56, 256, 1, 1, 0, 1, 1), (256, 56, 128, 1, 1, 0, 1, 1),
          (128, 56, 128, 3, 2, 1, 1, 1), (256, 56, 512, 1, 2, 0, 1, 1),
          (128, 28, 128, 3, 1, 1, 1, 1), (512, 28, 256, 1, 1, 0, 1, 1),
          (256, 14, 256, 3, 1, 1, 1, 1), (256, 14, 1024, 1, 1, 0, 1, 1),
          (1024, 14, 2048, 1, 2, 0, 1, 1), (512, 7, 512, 3, 1, 1, 1, 1),
          (2048, 7, 512, 1, 1, 0, 1, 1)]
OTHERS = [(3, 224, 64, 3, 1, 1, 1, 1), (64, 224, 64, 3, 1, 1, 1, 1), (256, 56, 256, 3, 1, 1, 1, 1),
          (512, 28, 512, 3, 1, 1, 1, 1), (3, 224, 768, 16, 16, 0, 1, 1),
          (320, 64, 320, 3, 1, 1, 1, 1), (640, 32, 640, 3, 1, 1, 1, 1),
          (1280, 16, 1280, 3, 1, 1, 1, 1), (4, 64, 320, 3, 1, 1, 1, 1),
          (256, 28, 256, 3, 1, 2, 1, 2), (17, 33, 29, 5, 2, 2, 1, 1)]
GROUPED = [(32, 112, 32, 3, 1, 1, 32, 1), (96, 112, 96, 3, 2, 1, 96, 1),
           (144, 56, 144, 3, 1, 1, 144, 1), (384, 14, 384, 3, 1, 1, 384, 1),
           (960, 7, 960, 3, 1, 1, 960, 1), (240, 28, 240, 5, 1, 2, 240, 1),
           (96, 56, 96, 7, 1, 3, 96, 1), (768, 7, 768, 7, 1, 3, 768, 1),
           (128, 56, 128, 3, 1, 1, 32, 1), (512, 14, 512, 3, 1, 1, 32, 1),
           (1024, 7, 1024, 3, 1, 1, 32, 1), (256, 28, 256, 3, 1, 1, 8, 1)]
# of MobileNetV2, EfficientNet-B0 and ConvNeXt-T, and others between them
MORE_DEPTHWISE = [(channels, size, channels, kernel, stride, kernel // 2, channels, 1)
                  for channels, size, kernel, stride in (
    (32, 112, 3, 1), (96, 112, 3, 2), (144, 56, 3, 2), (144, 56, 5, 2), (192, 28, 3, 1), (192, 28, 3, 2),
    (240, 28, 3, 2), (240, 14, 5, 1), (480, 14, 3, 1), (480, 14, 5, 1), (576, 14, 3, 1), (576, 14, 3, 2),
    (672, 14, 5, 1), (672, 14, 5, 2), (1152, 7, 5, 1), (1152, 7, 3, 1), (192, 28, 7, 1), (384, 14, 7, 1),
    (64, 64, 9, 1), (128, 56, 5, 1), (256, 28, 7, 1), (48, 160, 3, 1), (40, 75, 3, 1), (512, 32, 3, 1))]
MORE_GROUPED = [(128, 56, 128, 3, 2, 1, 4, 1), (256, 56, 256, 3, 1, 1, 32, 1), (256, 56, 256, 3, 2, 1, 32, 1),
                (512, 28, 512, 3, 1, 1, 32, 1), (1024, 14, 1024, 3, 1, 1, 32, 1), (192, 28, 192, 3, 1, 1, 8, 1),
                (168, 56, 168, 3, 1, 1, 7, 1), (64, 56, 64, 3, 1, 1, 2, 1)]
# of ResNet-50, EfficientNet-B0, the U-Net and others between them
MORE_DENSE = [(64, 56, 64, 1, 1, 0, 1, 1), (256, 56, 64, 1, 1, 0, 1, 1), (256, 56, 128, 1, 1, 0, 1, 1),
              (512, 28, 128, 1, 1, 0, 1, 1), (512, 28, 256, 1, 1, 0, 1, 1), (512, 28, 1024, 1, 2, 0, 1, 1),
              (1024, 14, 512, 1, 1, 0, 1, 1), (128, 28, 512, 1, 1, 0, 1, 1), (512, 7, 2048, 1, 1, 0, 1, 1),
              (256, 28, 256, 3, 2, 1, 1, 1), (512, 14, 512, 3, 2, 1, 1, 1), (96, 56, 96, 3, 1, 1, 1, 1),
              (160, 40, 160, 3, 1, 1, 1, 1), (384, 24, 384, 3, 1, 1, 1, 1), (768, 12, 768, 3, 1, 1, 1, 1),
              (1024, 16, 1024, 3, 1, 1, 1, 1), (64, 256, 64, 3, 1, 1, 1, 1), (128, 128, 128, 3, 1, 1, 1, 1),
              (256, 64, 256, 3, 1, 1, 1, 1), (512, 32, 512, 3, 1, 1, 1, 1), (3, 256, 64, 3, 1, 1, 1, 1),
              (64, 256, 2, 1, 1, 0, 1, 1), (96, 112, 24, 1, 1, 0, 1, 1), (32, 112, 16, 1, 1, 0, 1, 1),
              (24, 56, 144, 1, 1, 0, 1, 1), (80, 14, 480, 1, 1, 0, 1, 1), (1152, 7, 320, 1, 1, 0, 1, 1),
              (3, 224, 32, 3, 2, 1, 1, 1), (3, 224, 96, 4, 4, 0, 1, 1), (96, 56, 192, 2, 2, 0, 1, 1),
              (64, 112, 128, 5, 2, 2, 1, 1), (32, 64, 32, 7, 1, 3, 1, 1), (64, 32, 96, 5, 1, 2, 1, 1),
              (48, 80, 48, 3, 1, 2, 1, 2), (128, 20, 200, 3, 1, 1, 1, 1), (1000, 10, 600, 1, 1, 0, 1, 1)]
DIRECTIONS = ("forward", "grad_input", "grad_weight")
# dtype and memory format; "tf32" is cuDNN's default for float32 operands in PyTorch
KINDS = (("float32", "contiguous_format"), ("tf32", "contiguous_format"),
         ("bfloat16", "contiguous_format"), ("bfloat16", "channels_last"))


def convolution_point(shape, batch, dtype, memory_format, direction):
    channels, size, out_channels, kernel, stride, padding, groups, dilation = shape
    out_size = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    parameters = {"shape": list(shape), "batch": batch, "dtype": dtype,
                  "memory_format": memory_format}
    outputs = batch * out_channels * out_size * out_size
    per_output = channels // groups * kernel * kernel
    elements = batch * channels * size * size + outputs + out_channels * per_output
    return direction, parameters, 2 * outputs * per_output, elements * BYTES[dtype]


def points(small):
    shapes = [(4, 8, 4, 3, 1, 1, 1, 1), (4, 8, 4, 3, 1, 1, 4, 1)] if small else (
        RESNET + OTHERS + GROUPED)
    batches = (2,) if small else (32,)
    for shape, batch, (dtype, layout), direction in itertools.product(shapes, batches, KINDS,
                                                                      DIRECTIONS):
        yield convolution_point(shape, batch, dtype, layout, direction)
    if not small:
        for shape, batch in itertools.product(RESNET + GROUPED, (1, 256)):
            yield convolution_point(shape, batch, "bfloat16", "channels_last", "forward")


DEPTHWISE_KINDS = (*KINDS[1:], ("tf32", "channels_last"), ("float16", "contiguous_format"))
DENSE_KINDS = (*KINDS[:2], ("tf32", "channels_last"), KINDS[2])


def more_points(small):
    if small:
        yield convolution_point((4, 8, 4, 3, 1, 1, 4, 1), 3, "float16", "contiguous_format", "forward")
        return
    for shapes, kinds, batches in ((MORE_DEPTHWISE, DEPTHWISE_KINDS, (16, 64)),
                                   (MORE_GROUPED, DEPTHWISE_KINDS[:4], (32,)),
                                   (MORE_DENSE, DENSE_KINDS, (8, 48))):
        for number, (shape, (dtype, layout), direction) in enumerate(itertools.product(shapes, kinds, DIRECTIONS)):
            yield convolution_point(shape, batches[number % len(batches)], dtype, layout, direction)


TINY = 24


def tiny_points(small):
    """Convolutions of a few small images."""
    drawn = random.Random(4)
    for number in range(1 if small else TINY):
        channels, out_channels = (drawn.choice((1, 3, 4, 8, 16, 24, 32, 64)) for _ in range(2))
        size, kernel, batch = drawn.choice((4, 7, 8, 14, 16, 20, 32)), drawn.choice((1, 3, 3, 4, 5)), drawn.choice((1, 2, 4, 8))
        stride, groups = drawn.choice((1, 1, 2)), 1
        if number % 5 == 4:
            out_channels, groups = channels, channels
        shape = (channels, size, out_channels, kernel, stride, kernel // 2, groups, 1)
        for (dtype, layout), direction in itertools.product(KINDS[1:3], DIRECTIONS):
            yield convolution_point(shape, batch, dtype, layout, direction)


def operands(parameters, device, requires_grad):
    import torch
    channels, size, out_channels, kernel, _, _, groups, _ = parameters["shape"]
    layout = getattr(torch, parameters["memory_format"])
    sizes = ((parameters["batch"], channels, size, size),
             (out_channels, channels // groups, kernel, kernel))
    return [operand(s, parameters["dtype"], device).contiguous(memory_format=layout)
            .requires_grad_(requires_grad) for s in sizes]


def convolve(x, weight, parameters):
    import torch
    _, _, _, _, stride, padding, groups, dilation = parameters["shape"]
    return torch.conv2d(x, weight, None, stride, padding, dilation, groups)


def forward(parameters, device):
    x, weight = operands(parameters, device, False)
    return lambda: convolve(x, weight, parameters)


def gradient(parameters, device, wanted):
    import torch
    tensors = operands(parameters, device, True)
    output = convolve(*tensors, parameters)
    grad = torch.randn_like(output)
    return lambda: torch.autograd.grad(output, tensors[wanted], grad, retain_graph=True)


OPERATIONS = {"forward": forward,
              "grad_input": lambda parameters, device: gradient(parameters, device, 0),
              "grad_weight": lambda parameters, device: gradient(parameters, device, 1)}
