"""Models of transformers that the zoo does not have, with the outputs of their own `forward`: losses, caches, states."""
import torch

from catalog import Model

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
TOKENS = {"vocab_size": 128, "max_position_embeddings": 64}


def ids(batch=2, length=16):
    return torch.randint(3, 128, (batch, length))


def made(name, config_name=None, **options):
    import transformers

    config_name = config_name or name.partition("For")[0].removesuffix("Model") + "Config"
    return getattr(transformers, name)(getattr(transformers, config_name)(**options))


def labeled():
    tokens = ids()
    return {"input_ids": tokens, "labels": tokens}


def with_cache(name, **options):
    """Logits and keys and values of all layers."""
    return lambda: (made(name, **{**SMALL, **TOKENS, **options}), (), {"input_ids": ids(), "use_cache": True})


def step_with_cache():
    """One token for each sequence, whose 12 earlier keys and values are inputs."""
    from transformers import DynamicCache

    model = made("StableLmForCausalLM", **SMALL, **TOKENS, num_key_value_heads=1)
    cache = DynamicCache()
    for layer in range(2):
        cache.update(torch.randn(2, 1, 12, 16), torch.randn(2, 1, 12, 16), layer)
    return model, (), {"input_ids": ids(2, 1), "past_key_values": cache}


def xlnet():
    model = made("XLNetLMHeadModel", "XLNetConfig", vocab_size=128, d_model=32, n_layer=2, n_head=2,
                 d_inner=64)
    return model, (), labeled()


def masked_language(name, **options):
    return lambda: (made(name, **{**SMALL, **TOKENS, **options}), (), labeled())


def funnel():
    model = made("FunnelForMaskedLM", vocab_size=128, block_sizes=[1, 1], num_decoder_layers=1,
                 d_model=32, n_head=2, d_head=16, d_inner=64)
    return model, (), labeled()


def longformer():
    model = made("LongformerForMaskedLM", **SMALL, vocab_size=128, max_position_embeddings=66,
                 attention_window=[8, 8])
    tokens = ids(2, 32)
    mask = torch.ones_like(tokens)
    return model, (), {"input_ids": tokens, "attention_mask": mask, "labels": tokens}


def perceiver_text():
    model = made("PerceiverForMaskedLM", num_latents=8, d_latents=32, d_model=24, num_blocks=1,
                 num_self_attends_per_block=2, num_self_attention_heads=2,
                 num_cross_attention_heads=2, qk_channels=16, v_channels=32, vocab_size=128,
                 max_position_embeddings=16)
    tokens = ids()
    return model, (), {"inputs": tokens, "attention_mask": torch.ones_like(tokens), "labels": tokens}


def decision_transformer():
    model = made("DecisionTransformerModel", state_dim=11, act_dim=3, hidden_size=32, max_ep_len=64,
                 n_layer=2, n_head=2)
    steps = torch.arange(8).expand(2, 8).contiguous()
    inputs = {"states": torch.randn(2, 8, 11), "actions": torch.randn(2, 8, 3),
              "rewards": torch.randn(2, 8, 1), "returns_to_go": torch.randn(2, 8, 1),
              "timesteps": steps, "attention_mask": torch.ones(2, 8)}
    return model, (), inputs


def series(name, **options):
    """A model of one series of 24 values and 2 features of time, with the lags 1 to 3."""
    def build():
        sizes = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 32,
                 "decoder_ffn_dim": 32, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
                 "encoder_layerdrop": 0.0, "decoder_layerdrop": 0.0}
        model = made(name, prediction_length=6, context_length=21, lags_sequence=[1, 2, 3],
                     num_time_features=2, scaling="mean", **sizes, **options)
        inputs = {"past_values": torch.rand(2, 24), "past_time_features": torch.rand(2, 24, 2),
                  "past_observed_mask": torch.ones(2, 24), "future_values": torch.rand(2, 6),
                  "future_time_features": torch.rand(2, 6, 2)}
        return model, (), inputs
    return build


def patch_tst():
    model = made("PatchTSTForPrediction", num_input_channels=3, context_length=32, patch_length=8,
                 patch_stride=8, prediction_length=8, d_model=16, ffn_dim=32, num_hidden_layers=2,
                 num_attention_heads=2)
    return model, (), {"past_values": torch.randn(2, 32, 3), "future_values": torch.randn(2, 8, 3)}


def patch_mixer():
    model = made("PatchTSMixerForPrediction", context_length=32, patch_length=8, patch_stride=8,
                 num_input_channels=3, prediction_length=8, d_model=16, num_layers=2)
    return model, (), {"past_values": torch.randn(2, 32, 3), "future_values": torch.randn(2, 8, 3)}


def video_autoencoder():
    model = made("VideoMAEForPreTraining", **SMALL, image_size=32, num_frames=4, decoder_hidden_size=16,
                 decoder_num_hidden_layers=1, decoder_num_attention_heads=2,
                 decoder_intermediate_size=32)
    mask = torch.arange(8).expand(2, 8) % 2 == 0
    return model, (), {"pixel_values": torch.randn(2, 4, 3, 32, 32), "bool_masked_pos": mask}


def vivit():
    model = made("VivitForVideoClassification", **SMALL, image_size=32, num_frames=4,
                 tubelet_size=[2, 16, 16])
    return model, (), {"pixel_values": torch.randn(2, 4, 3, 32, 32), "labels": torch.tensor([0, 1])}


def image_autoencoder():
    model = made("ViTMAEForPreTraining", **SMALL, image_size=64, patch_size=16, decoder_hidden_size=16,
                 decoder_num_hidden_layers=1, decoder_num_attention_heads=2,
                 decoder_intermediate_size=32)
    return model, (), {"pixel_values": torch.randn(2, 3, 64, 64)}


def yolos():
    model = made("YolosForObjectDetection", **SMALL, image_size=[64, 64], num_detection_tokens=8)
    return model, (), {"pixel_values": torch.randn(2, 3, 64, 64)}


def yolos_with_targets():
    model, _, inputs = yolos()
    boxes = [{"class_labels": torch.tensor([1, 2]), "boxes": torch.rand(2, 4)} for _ in range(2)]
    return model, (), {**inputs, "labels": boxes}


def depth():
    sizes = {**SMALL, "num_hidden_layers": 4}
    model = made("DPTForDepthEstimation", **sizes, image_size=64, patch_size=16,
                 backbone_out_indices=[0, 1, 2, 3], neck_hidden_sizes=[8, 16, 32, 32],
                 fusion_hidden_size=16, is_hybrid=False)
    return model, (), {"pixel_values": torch.randn(2, 3, 64, 64)}


def wav2vec_conformer():
    model = made("Wav2Vec2ConformerForCTC", **SMALL, vocab_size=32, conv_dim=(16, 16), conv_stride=(5, 2),
                 conv_kernel=(10, 3), num_feat_extract_layers=2, num_conv_pos_embeddings=16,
                 num_conv_pos_embedding_groups=4, layerdrop=0.0, mask_time_prob=0.0,
                 conv_depthwise_kernel_size=7)
    return model, (), {"input_values": torch.randn(2, 1600)}


def encodec():
    model = made("EncodecModel", num_filters=4, hidden_size=16, codebook_size=16, codebook_dim=16,
                 upsampling_ratios=[4, 2], target_bandwidths=[1.5], sampling_rate=800, norm_type="weight_norm")
    return model, (), {"input_values": torch.randn(2, 1, 256)}


def speech_t5():
    model = made("SpeechT5ForTextToSpeech", vocab_size=32, hidden_size=32, encoder_layers=1,
                 decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
                 encoder_ffn_dim=64, decoder_ffn_dim=64, encoder_layerdrop=0.0,
                 decoder_layerdrop=0.0, speech_decoder_prenet_units=16, num_mel_bins=8,
                 speech_decoder_postnet_units=16, speaker_embedding_dim=16, max_text_positions=64)
    inputs = {"input_ids": torch.randint(3, 32, (2, 12)), "speaker_embeddings": torch.randn(2, 16),
              "decoder_input_values": torch.randn(2, 16, 8)}
    return model, (), inputs


def vilt():
    model = made("ViltModel", **SMALL, **TOKENS, image_size=64, patch_size=16)
    return model, (), {"input_ids": ids(), "pixel_values": torch.randn(2, 3, 64, 64)}


def blip():
    import transformers

    text = {**SMALL, **TOKENS, "encoder_hidden_size": 32, "projection_dim": 16}
    vision = {**SMALL, "image_size": 32, "patch_size": 16, "projection_dim": 16}
    config = transformers.BlipConfig(text_config=text, vision_config=vision, projection_dim=16)
    model = transformers.BlipForConditionalGeneration(config)
    return model, (), {"pixel_values": torch.randn(2, 3, 32, 32), **labeled()}


def layout():
    model = made("LayoutLMv3Model", **SMALL, vocab_size=128, max_position_embeddings=66, input_size=32,
                 patch_size=16, coordinate_size=4, shape_size=8, max_2d_position_embeddings=64)
    inputs = {"input_ids": ids(), "bbox": torch.randint(0, 60, (2, 16, 4)),
              "pixel_values": torch.randn(2, 3, 32, 32)}
    return model, (), inputs


HF = "transformers"
MODELS = {
    "falcon_cache": Model(HF, "language with KV cache",
                          with_cache("FalconForCausalLM", multi_query=True, bos_token_id=1, eos_token_id=2)),
    "phi_cache": Model(HF, "language with KV cache", with_cache("PhiForCausalLM", bos_token_id=1, eos_token_id=2)),
    "cohere_cache": Model(HF, "language with KV cache",
                          with_cache("CohereForCausalLM", bos_token_id=1, eos_token_id=2, pad_token_id=0)),
    "stablelm_step": Model(HF, "language with KV cache", step_with_cache),
    "xlnet": Model(HF, "language", xlnet),
    "fnet": Model(HF, "language", masked_language("FNetForMaskedLM")),
    "esm": Model(HF, "scientific", masked_language("EsmForMaskedLM", pad_token_id=1,
                                                   position_embedding_type="rotary")),
    "funnel": Model(HF, "language", funnel),
    "longformer": Model(HF, "language", longformer),
    "perceiver_text": Model(HF, "language", perceiver_text),
    "decision_transformer": Model(HF, "reinforcement learning", decision_transformer),
    "time_series_transformer": Model(HF, "time series", series("TimeSeriesTransformerForPrediction")),
    "informer": Model(HF, "time series", series("InformerForPrediction")),
    "autoformer": Model(HF, "time series", series("AutoformerForPrediction", label_length=4)),
    "patch_tst": Model(HF, "time series", patch_tst),
    "patch_tsmixer": Model(HF, "time series", patch_mixer),
    "videomae": Model(HF, "video", video_autoencoder),
    "vivit": Model(HF, "video", vivit),
    "vit_mae": Model(HF, "image", image_autoencoder),
    "yolos": Model(HF, "detection", yolos),
    "yolos_targets": Model(HF, "detection with targets", yolos_with_targets),
    "dpt": Model(HF, "depth", depth),
    "wav2vec2_conformer": Model(HF, "speech", wav2vec_conformer),
    "encodec": Model(HF, "speech", encodec),
    "speecht5": Model(HF, "speech", speech_t5),
    "vilt": Model(HF, "image and text", vilt),
    "blip": Model(HF, "image and text", blip),
    "layoutlmv3": Model(HF, "documents", layout),
}
