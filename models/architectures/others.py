"""Diffusion, recurrent and graph networks."""
import torch
from torch import nn

from .architecture import Architecture, NamedInputs, tokens


def diffusion_unet():
    """The U-Net of Stable Diffusion with half of its channels: text attends to a latent image."""
    import diffusers

    model = diffusers.UNet2DConditionModel(
        sample_size=32,
        block_out_channels=(160, 320, 640),
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"),
        up_block_types=("UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        layers_per_block=1,
        cross_attention_dim=768,
        attention_head_dim=8,
    )
    inputs = (torch.zeros(1, 4, 32, 32), torch.zeros(1), torch.zeros(1, 77, 768))
    names = ("sample", "timestep", "encoder_hidden_states")
    return NamedInputs(model, names, lambda output: output[0], return_dict=False), inputs


def diffusion_transformer():
    import diffusers

    model = diffusers.DiTTransformer2DModel(
        num_attention_heads=16, attention_head_dim=72, num_layers=3, sample_size=32
    )
    inputs = (
        torch.zeros(2, 4, 32, 32),
        torch.zeros(2, dtype=torch.int64),
        torch.zeros(2, dtype=torch.int64),
    )
    names = ("hidden_states", "timestep", "class_labels")
    return NamedInputs(model, names, lambda output: output[0], return_dict=False), inputs


def image_autoencoder():
    import diffusers

    model = diffusers.AutoencoderKL(
        block_out_channels=(64, 128, 256),
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        layers_per_block=1,
    )
    return NamedInputs(model, ("sample",), lambda output: output[0], return_dict=False), (
        torch.zeros(1, 3, 128, 128),
    )


class Recurrent(nn.Module):
    """A language model around a recurrent layer."""

    def __init__(self, layer, vocabulary=10000, width=650):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.dropout = nn.Dropout(0.5)
        self.layer = layer
        self.head = nn.Linear(650 * (2 if layer.bidirectional else 1), vocabulary)

    def forward(self, input_ids):
        hidden, _ = self.layer(self.dropout(self.embedding(input_ids)))
        return self.head(self.dropout(hidden))


def recurrent(layer, **settings):
    def build():
        made = layer(650, 650, num_layers=2, batch_first=True, **settings)
        return Recurrent(made), (tokens(20, 35),)

    return build


class GraphNetwork(nn.Module):
    """Two layers over the nodes and edges of a graph."""

    def __init__(self, first, second, between):
        super().__init__()
        self.first = first
        self.second = second
        self.between = between

    def forward(self, x, edge_index):
        x = self.between(self.first(x, edge_index))
        x = nn.functional.dropout(x, 0.5, self.training)
        return self.second(x, edge_index)


def citation_graph():
    """Nodes, features and edges in the numbers of Cora, with an edge from each node to itself.

    These are in the data: a layer that adds them first removes those that are there, and then how
    many edges there are depends on data.
    """
    return torch.zeros(2708, 1433), torch.zeros(2, 10556 + 2708, dtype=torch.int64)


def graph_convolution():
    from torch_geometric.nn import GCNConv

    given = {"add_self_loops": False}
    layers = (GCNConv(1433, 16, **given), GCNConv(16, 7, **given))
    return GraphNetwork(*layers, nn.ReLU()), citation_graph()


def graph_attention():
    from torch_geometric.nn import GATConv

    given = {"add_self_loops": False}
    layers = (GATConv(1433, 8, heads=8, **given), GATConv(64, 7, **given))
    return GraphNetwork(*layers, nn.ELU()), citation_graph()


def graph_isomorphism():
    from torch_geometric.nn import GINConv

    def layer(width):
        return GINConv(nn.Sequential(nn.Linear(width, 64), nn.BatchNorm1d(64), nn.Linear(64, 64)))

    return GraphNetwork(layer(1433), layer(64), nn.ReLU()), citation_graph()


ARCHITECTURES = {
    "diffusion_unet": Architecture(
        "diffusion U-Net", "diffusers UNet2DConditionModel", diffusion_unet
    ),
    "dit": Architecture("diffusion transformer", "diffusers DiTTransformer2DModel",
                        diffusion_transformer),
    "image_autoencoder": Architecture("autoencoder", "diffusers AutoencoderKL", image_autoencoder),
    "lstm": Architecture("LSTM", "torch.nn.LSTM", recurrent(nn.LSTM, dropout=0.5)),
    "bidirectional_gru": Architecture("GRU", "torch.nn.GRU", recurrent(nn.GRU, bidirectional=True)),
    "gcn": Architecture("GNN", "torch_geometric GCNConv", graph_convolution),
    "gat": Architecture("GNN", "torch_geometric GATConv", graph_attention),
    "gin": Architecture("GNN", "torch_geometric GINConv", graph_isomorphism),
}
