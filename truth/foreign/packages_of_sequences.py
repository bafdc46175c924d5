"""Speech and music, language, genomes, series in time."""
import torch

from catalog import Model


def tokens(batch=2, length=32, count=100):
    return torch.randint(1, count, (batch, length))


def conformer():
    from conformer import Conformer

    model = Conformer(dim=64, depth=2, dim_head=32, heads=2, conv_kernel_size=15, attn_dropout=0.1,
                      ff_dropout=0.1, conv_dropout=0.1)
    return model, (torch.randn(2, 48, 64),), {}


def hybrid_demucs():
    from demucs.htdemucs import HTDemucs

    model = HTDemucs(["drums", "voice"], channels=8, nfft=512, depth=3, t_layers=1, t_heads=2,
                     bottom_channels=32, segment=0.1, use_train_segment=False)
    return model, (torch.randn(1, 2, 8192),), {}


def conv_tasnet():
    from asteroid.models import ConvTasNet

    model = ConvTasNet(n_src=2, n_blocks=2, n_repeats=1, bn_chan=16, hid_chan=32, skip_chan=16,
                       n_filters=32)
    return model, (torch.randn(2, 2048),), {}


def megabyte():
    from MEGABYTE_pytorch import MEGABYTE

    model = MEGABYTE(num_tokens=64, dim=(64, 32), max_seq_len=(8, 4), depth=(1, 1), dim_head=16,
                     heads=2, flash_attn=True)
    return model, (tokens(2, 32, 64),), {"return_loss": True}


def local_transformer():
    from local_attention import LocalTransformer

    model = LocalTransformer(num_tokens=64, dim=32, depth=2, max_seq_len=32, dim_head=16, heads=2,
                             local_attn_window_size=8, attn_dropout=0.1)
    return model, (tokens(2, 33, 64),), {"return_loss": True}


def retnet():
    from torchscale.architecture.config import RetNetConfig
    from torchscale.architecture.retnet import RetNetDecoder

    config = RetNetConfig(vocab_size=64, decoder_embed_dim=32, decoder_value_embed_dim=64,
                          decoder_retention_heads=2, decoder_ffn_embed_dim=64, decoder_layers=2)
    embedding = torch.nn.Embedding(64, 32)
    return RetNetDecoder(config, embed_tokens=embedding), (tokens(2, 16, 64),), {}


def reformer_lm():
    from reformer_pytorch import ReformerLM

    model = ReformerLM(num_tokens=64, dim=32, depth=1, max_seq_len=32, heads=2, bucket_size=8,
                       n_hashes=2, causal=True)
    return model, (tokens(2, 32, 64),), {}


def linear_attention():
    from linear_attention_transformer import LinearAttentionTransformerLM

    model = LinearAttentionTransformerLM(num_tokens=64, dim=32, heads=2, depth=1, max_seq_len=32,
                                         causal=False)
    return model, (tokens(2, 32, 64),), {}


def nystromer():
    from nystrom_attention import Nystromformer

    model = Nystromformer(dim=32, dim_head=16, heads=2, depth=2, num_landmarks=8,
                          pinv_iterations=3)
    return model, (torch.randn(2, 32, 32),), {}


def gate_loop():
    from gateloop_transformer import Transformer

    model = Transformer(num_tokens=64, dim=32, depth=1, use_gate_looped_attn=False, dim_head=16,
                        heads=2, rotary_emb=True)
    return model, (tokens(2, 33, 64),), {"return_loss": True}


def enformer():
    from enformer_pytorch import Enformer

    model = Enformer.from_hparams(dim=96, depth=2, heads=2, output_heads={"human": 5},
                                  target_length=8, num_downsamples=3, dim_divisible_by=8,
                                  attn_dim_key=16)
    return model, (torch.rand(1, 256, 4),), {"head": "human"}


def inverted_transformer():
    from iTransformer import iTransformer

    model = iTransformer(num_variates=7, lookback_len=24, dim=32, depth=2, heads=2, dim_head=16,
                         pred_length=(6, 12), use_reversible_instance_norm=True,
                         num_residual_streams=2, flash_attn=False)
    return model, (torch.randn(2, 24, 7),), {}


MODELS = {
    "conformer": Model("conformer", "speech", conformer),
    "htdemucs": Model("demucs", "music", hybrid_demucs),
    "conv_tasnet": Model("asteroid", "speech", conv_tasnet),
    "megabyte": Model("MEGABYTE-pytorch", "language", megabyte),
    "local_transformer": Model("local-attention", "language", local_transformer),
    "retnet": Model("torchscale", "language", retnet),
    "reformer_lm": Model("reformer-pytorch", "language", reformer_lm),
    "linear_attention": Model("linear-attention-transformer", "language", linear_attention),
    "nystromformer": Model("nystrom-attention", "language", nystromer),
    "gateloop": Model("gateloop-transformer", "language", gate_loop),
    "enformer": Model("enformer-pytorch", "scientific", enformer),
    "itransformer": Model("iTransformer", "time series", inverted_transformer),
}
