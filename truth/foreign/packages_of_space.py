"""Images, video, detection, diffusion, volumes, points and fields."""
import torch

from catalog import Model


def image(batch=2, size=64):
    return torch.randn(batch, 3, size, size)


def xcit():
    import timm

    return timm.create_model("xcit_nano_12_p16_224", depth=2, num_classes=10), (image(),), {}


def mobilevit():
    import timm

    return timm.create_model("mobilevitv2_050", num_classes=10), (image(),), {}


def coatnet():
    import timm

    return timm.create_model("coatnet_pico_rw_224", num_classes=10, img_size=64), (image(),), {}


def efficientdet():
    import effdet

    config = effdet.get_efficientdet_config("efficientdet_d0")
    config.image_size, config.num_classes = (128, 128), 5
    config.fpn_cell_repeats, config.box_class_repeats = 1, 1
    model = effdet.EfficientDet(config, pretrained_backbone=False)
    model.reset_head(num_classes=5)
    bench = effdet.DetBenchTrain(model, create_labeler=False)
    # Labels of anchors, as effdet's loader gives them; evaluation wants the sizes of the images.
    target = {"label_num_positives": torch.tensor([3.0, 2.0]), "img_scale": torch.ones(2),
              "img_size": torch.full((2, 2), 128.0)}
    for level in range(3, 8):
        cells = 128 // 2**level
        target[f"label_cls_{level - 3}"] = torch.randint(-2, 5, (2, cells, cells, 9))
        target[f"label_bbox_{level - 3}"] = torch.randn(2, cells, cells, 36)
    return bench, (image(2, 128), target), {}


def efficientdet_lite():
    import effdet

    config = effdet.get_efficientdet_config("tf_efficientdet_lite0")
    config.image_size, config.num_classes, config.legacy_focal = (128, 128), 4, True
    config.fpn_cell_repeats, config.box_class_repeats = 1, 1
    model = effdet.EfficientDet(config, pretrained_backbone=False)
    return model, (image(2, 128),), {}


def timesformer():
    from timesformer_pytorch import TimeSformer

    model = TimeSformer(dim=64, image_size=32, patch_size=16, num_frames=4, num_classes=10, depth=2,
                        heads=2, dim_head=32, attn_dropout=0.1, ff_dropout=0.1)
    return model, (torch.randn(2, 4, 3, 32, 32),), {}


def x3d():
    from pytorchvideo.models.x3d import create_x3d

    model = create_x3d(input_clip_length=4, input_crop_size=64, model_num_class=10, depth_factor=1.0,
                       head_dim_out=64, head_activation=None)
    return model, (torch.randn(2, 3, 4, 64, 64),), {}


def video_diffusion():
    from video_diffusion_pytorch import GaussianDiffusion, Unet3D

    net = Unet3D(dim=16, dim_mults=(1, 2), attn_heads=2, attn_dim_head=16)
    model = GaussianDiffusion(net, image_size=16, num_frames=4, timesteps=10)
    return model, (torch.rand(2, 3, 4, 16, 16),), {}


def audio_diffusion():
    from a_unet import apex

    items = [apex.ResnetItem, apex.AttentionItem]
    blocks = [apex.XBlock(channels=16 * (i + 1), factor=2, items=items, attention_heads=2,
                          attention_features=8, resnet_groups=4, modulation_features=8)
              for i in range(2)]
    return apex.XUNet(dim=1, in_channels=2, blocks=blocks), (torch.randn(2, 2, 64),), {}


def contrastive():
    import timm
    from lightly.loss import NTXentLoss
    from lightly.models.modules import SimCLRProjectionHead

    class SimClr(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = timm.create_model("resnet10t", num_classes=0)
            self.head = SimCLRProjectionHead(self.backbone.num_features, 64, 32)
            self.criterion = NTXentLoss(temperature=0.2)

        def forward(self, first, second):
            return self.criterion(self.head(self.backbone(first)), self.head(self.backbone(second)))

    return SimClr(), (image(4), image(4)), {}


def image_and_text():
    from x_clip import CLIP

    model = CLIP(dim_text=64, dim_image=64, dim_latent=32, num_text_tokens=100, text_enc_depth=2,
                 text_seq_len=16, text_heads=2, visual_enc_depth=2, visual_image_size=32,
                 visual_patch_size=16, visual_heads=2, visual_patch_dropout=0.0)
    return model, (torch.randint(1, 100, (4, 16)), image(4, 32)), {"return_loss": True}


def coca():
    from coca_pytorch.coca_pytorch import CoCa

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.patches = torch.nn.Conv2d(3, 48, 16, 16)

        def forward(self, images):
            return self.patches(images).flatten(2).transpose(1, 2)

    model = CoCa(dim=64, img_encoder=Encoder(), image_dim=48, num_tokens=100, unimodal_depth=1,
                 multimodal_depth=1, dim_head=32, heads=2, num_img_queries=8)
    return model, (torch.randint(1, 100, (2, 17)), image()), {"return_loss": True}


def flamingo():
    from flamingo_pytorch import PerceiverResampler

    model = PerceiverResampler(dim=64, depth=2, dim_head=32, heads=2, num_latents=8,
                               num_media_embeds=4)
    return model, (torch.randn(2, 3, 16, 64),), {}


def perceiver():
    from perceiver_pytorch import Perceiver

    model = Perceiver(num_freq_bands=4, depth=2, max_freq=10.0, num_latents=8, latent_dim=32,
                      latent_heads=2, cross_dim_head=16, latent_dim_head=16, num_classes=10,
                      attn_dropout=0.1, ff_dropout=0.1)
    return model, (torch.randn(2, 16, 16, 3),), {}


def soft_moe():
    from soft_moe_pytorch import SoftMoE

    return SoftMoE(dim=32, seq_len=16, num_experts=4), (torch.randn(2, 16, 32),), {}


def volume_unet():
    from unet import UNet3D

    model = UNet3D(num_encoding_blocks=3, out_channels_first_layer=4, normalization="batch",
                   upsampling_type="linear", padding=1, residual=True, dropout=0.1)
    return model, (torch.randn(2, 1, 16, 16, 16),), {}


def points():
    from point_transformer_pytorch import PointTransformerLayer

    layer = PointTransformerLayer(dim=32, pos_mlp_hidden_dim=16, attn_mlp_hidden_mult=2,
                                  num_neighbors=4)
    return layer, (torch.randn(2, 32, 32), torch.randn(2, 32, 3)), {}


def siren():
    from siren_pytorch import SirenNet, SirenWrapper

    net = SirenNet(dim_in=2, dim_hidden=32, dim_out=3, num_layers=3)
    model = SirenWrapper(net, latent_dim=16, image_width=16, image_height=16)
    return model, (image(1, 16),), {"latent": torch.randn(16)}


def fourier_operator():
    from neuralop.models import FNO

    model = FNO(n_modes=(8, 8), in_channels=1, out_channels=1, hidden_channels=16, n_layers=2)
    return model, (torch.randn(2, 1, 32, 32),), {}


def u_shaped_operator():
    from neuralop.models import UNO

    model = UNO(in_channels=3, out_channels=3, hidden_channels=16, projection_channels=16,
                uno_out_channels=[8, 16, 8], uno_n_modes=[[4, 4]] * 3,
                uno_scalings=[[1.0, 1.0], [0.5, 0.5], [2, 2]], n_layers=3, channel_mlp_skip="linear")
    return model, (torch.randn(2, 3, 16, 16),), {}


def neural_ode():
    from torchdiffeq import odeint

    class Flow(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.net = torch.nn.Sequential(torch.nn.Linear(3, 32), torch.nn.Tanh(),
                                           torch.nn.Linear(32, 3))

        def forward(self, state):
            times = torch.linspace(0, 1, 4, device=state.device)
            return odeint(lambda _, y: self.net(y), state, times, method="rk4")

    return Flow(), (torch.randn(16, 3),), {}


MODELS = {
    "timm_xcit": Model("timm", "image", xcit),
    "timm_mobilevit": Model("timm", "image", mobilevit),
    "timm_coatnet": Model("timm", "image", coatnet),
    "effdet_bench": Model("effdet", "detection with targets", efficientdet),
    "effdet_lite": Model("effdet", "detection", efficientdet_lite),
    "timesformer": Model("timesformer-pytorch", "video", timesformer),
    "x3d": Model("pytorchvideo", "video", x3d),
    "video_diffusion": Model("video-diffusion-pytorch", "diffusion", video_diffusion),
    "a_unet": Model("a-unet", "diffusion", audio_diffusion),
    "simclr": Model("lightly", "contrastive", contrastive),
    "x_clip": Model("x-clip", "image and text", image_and_text),
    "coca": Model("coca-pytorch", "image and text", coca),
    "perceiver_resampler": Model("flamingo-pytorch", "image and text", flamingo),
    "perceiver": Model("perceiver-pytorch", "image", perceiver),
    "soft_moe": Model("soft-moe-pytorch", "experts", soft_moe),
    "unet_3d": Model("unet", "3-D", volume_unet),
    "point_transformer": Model("point-transformer-pytorch", "3-D", points),
    "siren": Model("siren-pytorch", "3-D", siren),
    "fno": Model("neuraloperator", "scientific", fourier_operator),
    "uno": Model("neuraloperator", "scientific", u_shaped_operator),
    "neural_ode": Model("torchdiffeq", "scientific", neural_ode),
}
