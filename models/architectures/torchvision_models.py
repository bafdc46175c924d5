"""Of torchvision: classification, detection without its data-dependent end, segmentation, video."""
import torch

from .architecture import Architecture, OneOutput, flat, images


def torchvision_models():
    import torchvision.models

    return torchvision.models


def classifier(name, family, size=224, batch=4, pick=None, **arguments):
    def build():
        module = getattr(torchvision_models(), name)(**arguments)
        return OneOutput(module, pick) if pick else module, (images(batch, size),)

    return Architecture(family, f"torchvision {name}", build)


def with_auxiliary_heads(output):
    """Classifiers with auxiliary heads return them in training only."""
    return torch.cat(list(output), 1) if isinstance(output, tuple) else output


def fpn():
    from torchvision.models.detection import backbone_utils

    module = backbone_utils.resnet_fpn_backbone(
        backbone_name="resnet50", weights=None, trainable_layers=5
    )
    return OneOutput(module, lambda maps: flat(maps.values())), (images(2, 320),)


class Detector(torch.nn.Module):
    """Backbone and heads of a detector: scores and boxes of all anchors, none chosen yet."""

    def __init__(self, detector):
        super().__init__()
        self.backbone = detector.backbone
        self.head = detector.head

    def forward(self, x):
        heads = self.head(list(self.backbone(x).values()))
        return torch.cat([heads["cls_logits"], heads["bbox_regression"]], -1)


def detector(name, size):
    def build():
        models = torchvision_models().detection
        return Detector(getattr(models, name)(weights=None, weights_backbone=None)), (
            images(2, size),
        )

    return Architecture("detection", f"torchvision {name}, backbone and heads", build)




def segmenter(name, size=224):
    def build():
        module = getattr(torchvision_models().segmentation, name)(
            weights=None, weights_backbone=None, aux_loss=None
        )
        return OneOutput(module, lambda maps: maps["out"]), (images(2, size),)

    return Architecture("segmentation", f"torchvision {name}", build)


def plain_segmenter(name, size=224):
    """For those whose constructor takes no aux_loss."""

    def build():
        module = getattr(torchvision_models().segmentation, name)(
            weights=None, weights_backbone=None
        )
        return OneOutput(module, lambda maps: maps["out"]), (images(2, size),)

    return Architecture("segmentation", f"torchvision {name}", build)


def video(name, size, family="video"):
    def build():
        module = getattr(torchvision_models().video, name)(weights=None)
        return module, (torch.zeros(1, 3, 16, size, size),)

    return Architecture(family, f"torchvision {name}", build)


ARCHITECTURES = {
    "alexnet": classifier("alexnet", "convolutional"),
    "vgg11_bn": classifier("vgg11_bn", "convolutional"),
    "resnext50_32x4d": classifier("resnext50_32x4d", "convolutional"),
    "densenet121": classifier("densenet121", "convolutional"),
    "googlenet": classifier(
        "googlenet", "convolutional", pick=with_auxiliary_heads, init_weights=False
    ),
    "mobilenet_v3_large": classifier("mobilenet_v3_large", "convolutional"),
    "efficientnet_b0": classifier("efficientnet_b0", "convolutional"),
    "regnet_y_400mf": classifier("regnet_y_400mf", "convolutional"),
    "shufflenet_v2_x1_0": classifier("shufflenet_v2_x1_0", "convolutional"),
    "convnext_tiny": classifier("convnext_tiny", "ConvNeXt"),
    "vit_b_32": classifier("vit_b_32", "ViT"),
    "swin_t": classifier("swin_t", "Swin", batch=2),
    "swin_v2_t": classifier("swin_v2_t", "Swin", 256, batch=2),
    "maxvit_t": classifier("maxvit_t", "ViT and convolutional", batch=2),
    "resnet50_fpn": Architecture("detection backbone", "torchvision resnet_fpn_backbone", fpn),
    "retinanet_resnet50_fpn": detector("retinanet_resnet50_fpn", 320),
    "ssdlite320_mobilenet_v3": detector("ssdlite320_mobilenet_v3_large", 320),
    "deeplabv3_resnet50": segmenter("deeplabv3_resnet50"),
    "lraspp_mobilenet_v3": plain_segmenter("lraspp_mobilenet_v3_large"),
    "r3d_18": video("r3d_18", 112),
    "mvit_v2_s": video("mvit_v2_s", 224),
}
