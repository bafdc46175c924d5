"""Networks with their losses: what a case trains."""
import torch
from torch import nn
from torch.nn import functional

RANDOM_FILLS = (
    "normal_", "uniform_", "trunc_normal_", "kaiming_normal_", "kaiming_uniform_",
    "xavier_normal_", "xavier_uniform_", "orthogonal_",
)


def leave_matrices_unfilled():
    """Building takes no time; `fill` writes the matrices on the device. Before transformers is
    imported, which keeps the functions that it finds."""

    def zeros_in_vectors(tensor, *args, **kwargs):
        with torch.no_grad():
            return tensor.zero_() if tensor.dim() < 2 else tensor

    for name in RANDOM_FILLS:
        setattr(nn.init, name, zeros_in_vectors)


def fill(module):
    """Random numbers where values decide sizes: a mixture of experts sends tokens by them."""
    with torch.no_grad():
        for parameter in module.parameters():
            if parameter.dim() > 1:
                parameter.normal_(0, 0.02)


class Task(nn.Module):
    """A network with its loss: takes tensors alone, returns the loss."""

    def __init__(self, network, loss):
        super().__init__()
        self.network = network
        self.loss = loss

    def forward(self, *inputs):
        return self.loss(self.network, *inputs)


def classification_loss(network, images, labels):
    return functional.cross_entropy(network(images), labels)


def language_loss(network, input_ids):
    return network(input_ids=input_ids, labels=input_ids).loss


def masked_language_loss(network, input_ids, attention_mask):
    return network(input_ids=input_ids, attention_mask=attention_mask, labels=input_ids).loss


def sequence_loss(network, input_ids, labels):
    return network(input_ids=input_ids, labels=labels).loss


def speech_loss(network, input_features, labels):
    return network(input_features=input_features, labels=labels).loss


def contrastive_loss(network, input_ids, pixel_values):
    return network(input_ids=input_ids, pixel_values=pixel_values, return_loss=True).loss


def segmentation_loss(network, images, labels):
    return functional.cross_entropy(network(images), labels)


def recurrent_loss(network, input_ids):
    return functional.cross_entropy(network(input_ids).flatten(0, 1), input_ids.flatten())


def images(batch, size):
    return torch.randn(batch, 3, size, size)


def integers(vocabulary, *shape):
    return torch.randint(0, vocabulary, shape)


class DoubleConvolution(nn.Sequential):
    def __init__(self, channels_in, channels):
        super().__init__(
            nn.Conv2d(channels_in, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
        )


class UNet(nn.Module):
    """The U-Net of 2015 with batch norm: contracting and expanding path, skips concatenated."""

    def __init__(self, width, depth, classes=2):
        super().__init__()
        widths = [width * 2**level for level in range(depth)]
        self.down = nn.ModuleList(map(DoubleConvolution, [3, *widths[:-1]], widths))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(wide, narrow, 2, stride=2)
            for wide, narrow in zip(widths[:0:-1], widths[-2::-1])
        )
        self.join = nn.ModuleList(DoubleConvolution(2 * n, n) for n in widths[-2::-1])
        self.head = nn.Conv2d(width, classes, 1)

    def forward(self, x):
        skips = []
        for block in self.down:
            x = block(functional.max_pool2d(x, 2) if skips else x)
            skips.append(x)
        skips.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([skips.pop(), up(x)], 1))
        return self.head(x)


class RecurrentModel(nn.Module):
    def __init__(self, vocabulary, width, layers):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.dropout = nn.Dropout(0.5)
        self.layer = nn.LSTM(width, width, layers, batch_first=True, dropout=0.5)
        self.head = nn.Linear(width, vocabulary)

    def forward(self, input_ids):
        hidden, _ = self.layer(self.dropout(self.embedding(input_ids)))
        return self.head(self.dropout(hidden))
