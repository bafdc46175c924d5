"""The zoo: architectures of known packages by configuration, for `truth/zoo`."""
from . import decoders, encoders, others, torchvision_models

ARCHITECTURES = {
    **torchvision_models.ARCHITECTURES,
    **encoders.ARCHITECTURES,
    **decoders.ARCHITECTURES,
    **others.ARCHITECTURES,
}
