"""Models that were held out later than those of held_out.py: of packages that neither those nor the rules since have met.
Rules were made because of the first 12; those from `axial_attention` on were chosen afterwards, those from `charformer` on
when rules had been made because of these, and those from `stam` on again after that."""
import torch

from catalog import Model
from held_out import image, tokens


def agents():
    from agent_attention_pytorch import AgentTransformer

    return AgentTransformer(dim=32, num_agent_tokens=8, depth=2, heads=2, dim_head=16), (torch.randn(2, 24, 32),), {}


def attention_free():
    from aft_pytorch import AFTFull

    layers = [part for _ in range(2) for part in (torch.nn.LayerNorm(32), AFTFull(max_seqlen=24, dim=32, hidden_dim=16))]
    return torch.nn.Sequential(*layers), (torch.randn(2, 24, 32),), {}


def smoothing():
    from etsformer_pytorch import ETSFormer

    model = ETSFormer(time_features=4, model_dim=32, embed_kernel_size=3, layers=2, heads=2, K=4)
    return model, (torch.randn(2, 32, 4),), {"num_steps_forecast": 8}


def gated_units():
    from flash_pytorch import FLASHTransformer

    model = FLASHTransformer(num_tokens=64, dim=32, depth=2, causal=True, group_size=8, query_key_dim=16,
                             expansion_factor=2.0)
    return model, (tokens(2, 24),), {}


def autoregressive_perceiver():
    from perceiver_ar_pytorch import PerceiverAR

    model = PerceiverAR(num_tokens=64, dim=32, depth=2, max_seq_len=32, cross_attn_seq_len=16, heads=2, dim_head=32)
    return model, (tokens(2, 32),), {"labels": tokens(2, 32)}


def moving_averages():
    from mega_pytorch import Mega

    return Mega(num_tokens=64, dim=32, depth=2, ema_heads=4, attn_dim_qk=16, attn_dim_value=32,
                laplacian_attn_fn=True), (tokens(2, 24),), {}


def columns():
    from glom_pytorch import Glom

    return Glom(dim=16, levels=3, image_size=32, patch_size=8), (image(),), {"iters": 3}


def halos():
    from halonet_pytorch import HaloAttention

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 1), HaloAttention(dim=32, block_size=4, halo_size=2, heads=2,
                                                                         dim_head=16))
    return model, (image(size=16),), {}


def mixed_transformer():
    from segformer_pytorch import Segformer

    model = Segformer(dims=(8, 16, 24, 32), heads=(1, 2, 2, 4), ff_expansion=(4, 4, 2, 2), reduction_ratio=(8, 4, 2, 1),
                      num_layers=1, decoder_dim=32, num_classes=4)
    return model, (image(size=64),), {}


def exponential_decay():
    from metaformer_gpt import MetaformerGPT

    return MetaformerGPT(num_tokens=64, dim=32, depth=2, heads=2, dim_head=16, max_seq_len=24), (tokens(2, 24),), {}


def shifts():
    from token_shift_gpt import TokenShiftGPT

    return TokenShiftGPT(num_tokens=64, dim=32, max_seq_len=24, depth=2), (tokens(2, 24),), {}


def global_attention():
    from gsa_pytorch import GSA

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), GSA(dim=16, dim_out=32, dim_key=8, heads=2,
                                                                          rel_pos_length=16))
    return model, (image(size=16),), {}


def axes():
    from axial_attention import AxialAttention

    layers = [AxialAttention(dim=32, dim_index=1, heads=2, num_dimensions=2) for _ in range(2)]
    return torch.nn.Sequential(torch.nn.Conv2d(3, 32, 1), *layers), (image(size=16),), {}


def bottlenecks():
    from bottleneck_transformer_pytorch import BottleStack

    return BottleStack(dim=16, fmap_size=16, dim_out=32, proj_factor=4, num_layers=2, heads=2, dim_head=8,
                       rel_pos_emb=True), (torch.randn(2, 16, 16, 16),), {}


def buckets():
    from memory_efficient_attention_pytorch import Attention

    return Attention(dim=32, heads=2, dim_head=16, causal=True, memory_efficient=True, q_bucket_size=8,
                     k_bucket_size=16), (torch.randn(2, 32, 32),), {}


def feedback():
    from feedback_transformer_pytorch import FeedbackTransformer

    return FeedbackTransformer(num_tokens=64, dim=32, depth=2, seq_len=4, mem_len=8, heads=2,
                               dim_head=16), (tokens(2, 12),), {}


def windows():
    from uformer_pytorch import Uformer

    return Uformer(dim=8, stages=2, num_blocks=1, window_size=4, dim_head=8, heads=2, ff_mult=2), (image(size=32),), {}


def segments():
    from segmentation_models_pytorch import Unet

    return Unet("resnet18", encoder_weights=None, encoder_depth=3, decoder_channels=(32, 16, 8),
                classes=4), (image(size=64),), {}


def splits():
    from resnest.torch.resnet import Bottleneck, ResNet

    return ResNet(Bottleneck, [1, 1, 1, 1], radix=2, groups=1, bottleneck_width=16, num_classes=8, deep_stem=True,
                  stem_width=8, avg_down=True, avd=True, avd_first=False), (image(size=64),), {}


def bytes_in_blocks():
    from charformer_pytorch import GBST

    layers = [GBST(num_tokens=64, dim=32, max_block_size=4, downsample_factor=4), FirstOf(), torch.nn.Linear(32, 8)]
    return torch.nn.Sequential(*layers), (tokens(2, 24),), {}


class FirstOf(torch.nn.Module):
    def forward(self, found):
        return found[0] if isinstance(found, tuple) else found


def offsets():
    from deformable_attention import DeformableAttention

    attention = DeformableAttention(dim=32, dim_head=16, heads=2, downsample_factor=4, offset_scale=4, offset_kernel_size=6)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 32, 1), attention), (image(size=32),), {}


def invariant_points():
    from invariant_point_attention import IPABlock

    model = IPABlock(dim=32, heads=2, scalar_key_dim=8, scalar_value_dim=8, point_key_dim=4, point_value_dim=4,
                     require_pairwise_repr=False)
    rotations = torch.eye(3).expand(2, 24, 3, 3).clone()
    return model, (torch.randn(2, 24, 32),), {"rotations": rotations, "translations": torch.randn(2, 24, 3)}


def low_rank():
    from linformer import LinformerLM

    return LinformerLM(num_tokens=64, dim=32, seq_len=24, depth=2, k=8, heads=2, dim_head=16), (tokens(2, 24),), {}


def nested():
    from x_unet import XUnet

    model = XUnet(dim=8, channels=3, dim_mults=(1, 2), num_blocks_per_stage=(1, 1), num_self_attn_per_stage=(0, 1),
                  nested_unet_depths=(1, 0), nested_unet_dim=8, attn_heads=2, attn_dim_head=8)
    return model, (image(size=32),), {}


class Likelihood(torch.nn.Module):
    def __init__(self, flow):
        super().__init__()
        self.flow = flow

    def forward(self, x):
        return -self.flow.log_prob(x).mean()


def couplings():
    import normflows

    flows = []
    for _ in range(4):
        flows += [normflows.flows.AffineCouplingBlock(normflows.nets.MLP([4, 32, 32, 8], init_zeros=True)),
                  normflows.flows.LULinearPermute(8)]
    flow = normflows.NormalizingFlow(normflows.distributions.DiagGaussian(8), flows)
    return Likelihood(flow), (torch.randn(16, 8),), {}


def frames():
    from stam_pytorch import STAM

    model = STAM(dim=32, image_size=32, patch_size=8, num_frames=4, num_classes=8, space_depth=1, space_heads=2,
                 space_mlp_dim=64, time_depth=1, time_heads=2, time_mlp_dim=64, space_dim_head=16, time_dim_head=16)
    return model, (torch.randn(2, 4, 3, 32, 32),), {}


def patches():
    from res_mlp_pytorch import ResMLP

    return ResMLP(image_size=32, patch_size=8, dim=32, depth=2, num_classes=8), (image(size=32),), {}


def memories():
    from compressive_transformer_pytorch import CompressiveTransformer

    model = CompressiveTransformer(num_tokens=64, dim=32, seq_len=16, mem_len=16, cmem_len=4, depth=2, heads=2,
                                   memory_layers=[2])
    return model, (tokens(2, 16),), {"memories": (torch.randn(1, 2, 16, 32), torch.randn(1, 2, 4, 32))}


def mel_bands():
    from nnAudio.features.mel import MelSpectrogram

    mel = MelSpectrogram(sr=16000, n_fft=64, n_mels=16, hop_length=32, trainable_mel=True, trainable_STFT=True, verbose=False)
    return torch.nn.Sequential(mel, torch.nn.Conv1d(16, 8, 3)), (torch.randn(2, 1024),), {}


MODELS = {
    "agent_attention": Model("agent-attention-pytorch", "sequences", agents),
    "attention_free": Model("aft-pytorch", "sequences", attention_free),
    "etsformer": Model("etsformer-pytorch", "time series", smoothing),
    "flash_units": Model("flash-pytorch", "language", gated_units),
    "perceiver_ar": Model("perceiver-ar-pytorch", "language", autoregressive_perceiver),
    "mega": Model("mega-pytorch", "language", moving_averages),
    "glom": Model("glom-pytorch", "image", columns),
    "halonet": Model("halonet-pytorch", "image", halos),
    "segformer_mit": Model("segformer-pytorch", "segmentation", mixed_transformer),
    "metaformer_gpt": Model("metaformer-gpt", "language", exponential_decay),
    "token_shift": Model("token-shift-gpt", "language", shifts),
    "gsa": Model("gsa-pytorch", "image", global_attention),
    "axial_attention": Model("axial-attention", "image", axes),
    "bottleneck_transformer": Model("bottleneck-transformer-pytorch", "image", bottlenecks),
    "bucketed_attention": Model("memory-efficient-attention-pytorch", "sequences", buckets),
    "feedback_transformer": Model("feedback-transformer-pytorch", "language", feedback),
    "uformer": Model("uformer-pytorch", "image restoration", windows),
    "segmentation_unet": Model("segmentation-models-pytorch", "segmentation", segments),
    "resnest": Model("resnest", "image", splits),
    "charformer": Model("charformer-pytorch", "language", bytes_in_blocks),
    "deformable_attention": Model("deformable-attention", "image", offsets),
    "invariant_points": Model("invariant-point-attention", "scientific", invariant_points),
    "linformer": Model("linformer", "language", low_rank),
    "nested_unet": Model("x-unet", "segmentation", nested),
    "couplings": Model("normflows", "scientific", couplings),
    "stam": Model("stam-pytorch", "video", frames),
    "res_mlp": Model("res-mlp-pytorch", "image", patches),
    "compressive": Model("compressive-transformer-pytorch", "language", memories),
    "mel_bands": Model("nnaudio", "audio", mel_bands),
}
