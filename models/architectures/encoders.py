"""Encoders, encoder-decoders and models of several modalities of transformers."""
import torch

from .architecture import Architecture, NamedInputs, images, tokens


def logits(output):
    return output.logits


def mask(batch, length):
    return torch.ones(batch, length, dtype=torch.int64)


def masked_language_model(family, name, **settings):
    """Two inputs: tokens, and which of them are not padding."""

    def build():
        import transformers

        config = getattr(transformers, f"{name}Config")(**settings)
        model = getattr(transformers, f"{name}ForMaskedLM")(config)
        names = ("input_ids", "attention_mask")
        return NamedInputs(model, names, logits), (tokens(4, 128), mask(4, 128))

    return Architecture(family, f"transformers {name}ForMaskedLM", build)


def sequence_to_sequence(family, config_name, model_name, **settings):
    def build():
        import transformers

        config = getattr(transformers, config_name)(use_cache=False, **settings)
        model = getattr(transformers, model_name)(config)
        names = ("input_ids", "decoder_input_ids")
        return NamedInputs(model, names, logits, use_cache=False), (tokens(2, 128), tokens(2, 64))

    return Architecture(family, f"transformers {model_name}", build)


def whisper():
    import transformers

    config = transformers.WhisperConfig(
        d_model=512,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=2048,
        decoder_ffn_dim=2048,
        use_cache=False,
    )
    model = transformers.WhisperForConditionalGeneration(config)
    module = NamedInputs(model, ("input_features", "decoder_input_ids"), logits, use_cache=False)
    return module, (torch.zeros(1, 80, 3000), tokens(1, 64))


def wav2vec2():
    import transformers

    config = transformers.Wav2Vec2Config(
        num_hidden_layers=3, apply_spec_augment=False, layerdrop=0.0
    )
    return NamedInputs(transformers.Wav2Vec2ForCTC(config), ("input_values",), logits), (
        torch.zeros(1, 16000),
    )


def image_and_text(name):
    def build():
        import transformers

        few = {"num_hidden_layers": 3}
        config = getattr(transformers, f"{name}Config")(text_config=few, vision_config=few)
        model = getattr(transformers, f"{name}Model")(config)
        length = config.text_config.max_position_embeddings
        size = config.vision_config.image_size
        module = NamedInputs(
            model, ("input_ids", "pixel_values"), lambda output: output.logits_per_image
        )
        return module, (tokens(2, length), images(2, size))

    return Architecture(f"{name} (image and text)", f"transformers {name}Model", build)


def vision(family, name, head, size=224, batch=2, **settings):
    def build():
        import transformers

        config = getattr(transformers, f"{name}Config")(**settings)
        model = getattr(transformers, f"{name}{head}")(config)
        return NamedInputs(model, ("pixel_values",), logits), (images(batch, size),)

    return Architecture(family, f"transformers {name}{head}", build)


def detr():
    import transformers

    config = transformers.DetrConfig(
        use_timm_backbone=False,
        use_pretrained_backbone=False,
        backbone=None,
        backbone_config=transformers.ResNetConfig(out_features=["stage4"]),
        encoder_layers=2,
        decoder_layers=2,
    )
    model = transformers.DetrForObjectDetection(config)

    def classes_and_boxes(output):
        return torch.cat([output.logits, output.pred_boxes], -1)

    return NamedInputs(model, ("pixel_values",), classes_and_boxes), (images(1, 320),)


ARCHITECTURES = {
    "bert": masked_language_model("BERT", "Bert", num_hidden_layers=4),
    "roberta": masked_language_model("BERT", "Roberta", num_hidden_layers=4),
    "distilbert": masked_language_model("BERT", "DistilBert", n_layers=4),
    "albert_base": masked_language_model(
        "BERT",
        "Albert",
        hidden_size=768,
        num_attention_heads=12,
        intermediate_size=3072,
        num_hidden_layers=4,
    ),
    "deberta_v2": masked_language_model(
        "BERT",
        "DebertaV2",
        hidden_size=768,
        num_hidden_layers=3,
        num_attention_heads=12,
        intermediate_size=3072,
        relative_attention=True,
        pos_att_type=["p2c", "c2p"],
    ),
    "modernbert": masked_language_model("BERT", "ModernBert", num_hidden_layers=4),
    "t5_base": sequence_to_sequence(
        "T5",
        "T5Config",
        "T5ForConditionalGeneration",
        d_model=768,
        d_ff=3072,
        num_heads=12,
        num_layers=3,
    ),
    "bart_base": sequence_to_sequence(
        "BART",
        "BartConfig",
        "BartForConditionalGeneration",
        d_model=768,
        encoder_layers=3,
        decoder_layers=3,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
    ),
    "whisper_base": Architecture(
        "Whisper", "transformers WhisperForConditionalGeneration", whisper
    ),
    "wav2vec2_base": Architecture("speech", "transformers Wav2Vec2ForCTC", wav2vec2),
    "clip": image_and_text("CLIP"),
    "siglip": image_and_text("Siglip"),
    "hf_vit": vision("ViT", "ViT", "ForImageClassification", num_hidden_layers=4),
    "hf_swin": vision("Swin", "Swin", "ForImageClassification", depths=[2, 2, 2, 2]),
    "hf_convnext": vision("ConvNeXt", "ConvNextV2", "ForImageClassification", depths=[2, 2, 2, 2]),
    "segformer_b0": vision("segmentation", "Segformer", "ForSemanticSegmentation"),
    "detr": Architecture("detection", "transformers DetrForObjectDetection", detr),
}
