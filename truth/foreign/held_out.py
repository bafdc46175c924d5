"""Models that no rule of symprof was made with: they were written down, and exported, after the last rule was."""
import torch

from catalog import Model
from transformers_models import HF, SMALL, TOKENS, labeled, made


def tokens(batch, length, count=64):
    return torch.randint(1, count, (batch, length))


def image(batch=2, size=32):
    return torch.randn(batch, 3, size, size)


def mixer():
    from mlp_mixer_pytorch import MLPMixer

    return MLPMixer(image_size=32, channels=3, patch_size=8, dim=32, depth=2, num_classes=10), (image(),), {}


def permutator():
    from mlp_mixer_pytorch import Permutator

    return Permutator(image_size=32, patch_size=8, dim=32, depth=2, num_classes=10, segments=8), (image(),), {}


def gated_mlp():
    from g_mlp_pytorch import gMLP

    model = gMLP(num_tokens=64, dim=32, depth=2, seq_len=24, causal=True, heads=2, attn_dim=8, act=torch.nn.Tanh())
    return model, (tokens(2, 24),), {}


def tab_transformer():
    from tab_transformer_pytorch import TabTransformer

    model = TabTransformer(categories=(4, 7, 3), num_continuous=5, dim=16, depth=2, heads=2,
                           mlp_act=torch.nn.ReLU())
    return model, (torch.stack([torch.randint(0, count, (8,)) for count in (4, 7, 3)], 1), torch.randn(8, 5)), {}


def sinkhorn():
    from sinkhorn_transformer import SinkhornTransformerLM

    model = SinkhornTransformerLM(num_tokens=64, dim=32, heads=2, depth=2, max_seq_len=32, bucket_size=8)
    return model, (tokens(2, 32),), {}


def hierarchical():
    from h_transformer_1d import HTransformer1D

    model = HTransformer1D(num_tokens=64, dim=32, depth=2, max_seq_len=32, heads=2, dim_head=16, block_size=8)
    return model, (tokens(2, 32),), {}


def lambda_layer():
    from lambda_networks import LambdaLayer

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 1), LambdaLayer(dim=32, dim_k=8, r=7, heads=4, dim_u=2))
    return model, (image(size=16),), {}


def recurrent_memory():
    from recurrent_memory_transformer_pytorch import RecurrentMemoryTransformer

    model = RecurrentMemoryTransformer(num_tokens=64, num_memory_tokens=4, dim=32, depth=2, heads=2, dim_head=16,
                                       seq_len=16)
    return model, (tokens(2, 16),), {}


def block_recurrent():
    from block_recurrent_transformer_pytorch import BlockRecurrentTransformer

    model = BlockRecurrentTransformer(num_tokens=64, dim=32, depth=2, heads=2, dim_head=16, max_seq_len=32,
                                      block_width=16, num_state_vectors=16, recurrent_layers=(2,))
    return model, (tokens(2, 32),), {}


def bidirectional():
    from bidirectional_cross_attention import BidirectionalCrossAttentionTransformer

    model = BidirectionalCrossAttentionTransformer(dim=32, depth=2, context_dim=24, heads=2, dim_head=16)
    return model, (torch.randn(2, 16, 32), torch.randn(2, 12, 24)), {}


def slots():
    from slot_attention import SlotAttention

    return SlotAttention(num_slots=4, dim=32, iters=2, hidden_dim=48), (torch.randn(2, 20, 32),), {}


def factorization_machine():
    from deepctr_torch.inputs import DenseFeat, SparseFeat
    from deepctr_torch.models import DeepFM

    features = [SparseFeat(name, 20, 8) for name in ("user", "item")] + [DenseFeat("age", 1)]
    rows = torch.cat([torch.randint(0, 20, (8, 2)).float(), torch.rand(8, 1)], 1)
    return DeepFM(features, features, dnn_hidden_units=(16, 8)), (rows,), {}


def cross_network():
    from deepctr_torch.inputs import DenseFeat, SparseFeat
    from deepctr_torch.models import DCNMix

    features = [SparseFeat(name, 20, 8) for name in ("user", "item")] + [DenseFeat("age", 1)]
    rows = torch.cat([torch.randint(0, 20, (8, 2)).float(), torch.rand(8, 1)], 1)
    return DCNMix(features, features, dnn_hidden_units=(16, 8)), (rows,), {}


def efficient_net():
    from efficientnet_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-b0", num_classes=10, image_size=64)
    model.set_swish(memory_efficient=False)
    return model, (image(size=64),), {}


def face_embedding():
    from facenet_pytorch import InceptionResnetV1

    return InceptionResnetV1(classify=True, num_classes=10, device="cpu"), (image(size=96),), {}


def super_resolution():
    from torchsr.models.rdn import RDN

    return RDN(2, 16, 2, 2, 8), (image(size=24),), {}


def channel_attention():
    from torchsr.models.ninasr import NinaSR

    return NinaSR(2, 16, 2), (image(size=24),), {}


def splines():
    from kan import KAN

    return KAN([4, 8, 1]), (torch.rand(16, 4),), {}


def extended_lstm():
    from xlstm import mLSTMBlockConfig, mLSTMLayerConfig, xLSTMBlockStack, xLSTMBlockStackConfig

    layer = mLSTMLayerConfig(conv1d_kernel_size=4, qkv_proj_blocksize=4, num_heads=2)
    config = xLSTMBlockStackConfig(mlstm_block=mLSTMBlockConfig(mlstm=layer), context_length=16, num_blocks=2,
                                   embedding_dim=32)
    return xLSTMBlockStack(config), (torch.randn(2, 16, 32),), {}


def rigid_motions():
    from se3_transformer_pytorch import SE3Transformer

    model = SE3Transformer(dim=8, heads=2, dim_head=4, depth=1, num_degrees=2, num_neighbors=4)
    return model, (torch.randn(1, 8, 8), torch.randn(1, 8, 3), torch.ones(1, 8).bool()), {}


def plain(name, **options):
    return lambda: (made(name, **{**SMALL, **TOKENS, **options}), (), labeled())


def short_convolutions():
    return made("ConvBertForMaskedLM", **SMALL, **TOKENS, embedding_size=32, conv_kernel_size=3), (), labeled()


def narrow_bert():
    model = made("MobileBertForMaskedLM", **SMALL, **TOKENS, embedding_size=16, intra_bottleneck_size=16,
                 true_hidden_size=16)
    return model, (), labeled()


def audio_spectrogram():
    model = made("ASTForAudioClassification", "ASTConfig", **SMALL, max_length=64, num_mel_bins=32)
    return model, (), {"input_values": torch.randn(2, 64, 32), "labels": torch.tensor([0, 1])}


def hubert():
    model = made("HubertForCTC", **SMALL, vocab_size=32, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
                 num_feat_extract_layers=2, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4, layerdrop=0.0,
                 mask_time_prob=0.0)
    return model, (), {"input_values": torch.randn(2, 1600)}


def upscaler():
    model = made("Swin2SRForImageSuperResolution", image_size=32, embed_dim=24, depths=[2], num_heads=[2],
                 window_size=4, upscale=2)
    return model, (), {"pixel_values": image()}


def document_question():
    model = made("DonutSwinModel", image_size=32, patch_size=4, embed_dim=16, depths=[1, 1], num_heads=[2, 2],
                 window_size=4)
    return model, (), {"pixel_values": image()}


def depth_map():
    model = made("GLPNForDepthEstimation", depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32], decoder_hidden_size=16,
                 num_attention_heads=[1, 2, 2, 4])
    return model, (), {"pixel_values": image(size=64)}


def pooling():
    model = made("PoolFormerForImageClassification", "PoolFormerConfig", depths=[1, 1, 1, 1], hidden_sizes=[8, 16, 24, 32])
    return model, (), {"pixel_values": image(size=64), "labels": torch.tensor([0, 1])}


def segment_with_masks():
    model = made("SegGptModel", **SMALL, image_size=[64, 32], patch_size=16, pretrain_image_size=32,
                 intermediate_hidden_state_indices=[0, 1], merge_index=0, decoder_hidden_size=8)
    return model, (), {"pixel_values": image(), "prompt_pixel_values": image(), "prompt_masks": image()}


def translation():
    sizes = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64,
             "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    model = made("MarianMTModel", "MarianConfig", **TOKENS, **sizes, pad_token_id=0, decoder_start_token_id=1)
    return model, (), labeled()


MODELS = {
    "mixer": Model("mlp-mixer-pytorch", "image", mixer),
    "permutator": Model("mlp-mixer-pytorch", "image", permutator),
    "gated_mlp": Model("g-mlp-pytorch", "language", gated_mlp),
    "tab_transformer": Model("tab-transformer-pytorch", "tabular", tab_transformer),
    "sinkhorn": Model("sinkhorn-transformer", "language", sinkhorn),
    "hierarchical": Model("h-transformer-1d", "language", hierarchical),
    "lambda_layer": Model("lambda-networks", "image", lambda_layer),
    "recurrent_memory": Model("recurrent-memory-transformer-pytorch", "language", recurrent_memory),
    "block_recurrent": Model("block-recurrent-transformer-pytorch", "language", block_recurrent),
    "bidirectional": Model("bidirectional-cross-attention", "sequences", bidirectional),
    "slot_attention": Model("slot-attention", "image", slots),
    "deep_fm": Model("deepctr-torch", "recommender", factorization_machine),
    "cross_network": Model("deepctr-torch", "recommender", cross_network),
    "efficient_net": Model("efficientnet-pytorch", "image", efficient_net),
    "face_embedding": Model("facenet-pytorch", "image", face_embedding),
    "super_resolution": Model("torchsr", "image", super_resolution),
    "channel_attention": Model("torchsr", "image", channel_attention),
    "splines": Model("pykan", "scientific", splines),
    "extended_lstm": Model("xlstm", "sequences", extended_lstm),
    "rigid_motions": Model("se3-transformer-pytorch", "3-D", rigid_motions),
    "convbert": Model(HF, "language", short_convolutions),
    "mobilebert": Model(HF, "language", narrow_bert),
    "squeezebert": Model(HF, "language", plain("SqueezeBertForMaskedLM", embedding_size=32, q_groups=2, k_groups=2,
                                               v_groups=2, post_attention_groups=1, intermediate_groups=2,
                                               output_groups=2)),
    "electra": Model(HF, "language", plain("ElectraForMaskedLM", embedding_size=16)),
    "olmo2": Model(HF, "language", plain("Olmo2ForCausalLM", pad_token_id=0, bos_token_id=1, eos_token_id=2)),
    "granite": Model(HF, "language", plain("GraniteForCausalLM", pad_token_id=0, bos_token_id=1, eos_token_id=2)),
    "marian": Model(HF, "translation", translation),
    "ast": Model(HF, "speech", audio_spectrogram),
    "hubert": Model(HF, "speech", hubert),
    "swin2sr": Model(HF, "image", upscaler),
    "donut": Model(HF, "documents", document_question),
    "glpn": Model(HF, "depth", depth_map),
    "poolformer": Model(HF, "image", pooling),
    "seggpt": Model(HF, "segmentation", segment_with_masks),
}
