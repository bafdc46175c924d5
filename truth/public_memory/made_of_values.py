"""Stand-ins for what PEFT computes of the weights' values when it makes an adapter: results of the same shapes."""
import torch


def _even_clusters(rows: torch.Tensor, count: int, iterations: int) -> tuple[torch.Tensor, int]:
    """AdaMSS groups rows by k-means: here all groups have one size, as how large each is depends on the values."""
    count = min(count, rows.shape[0])
    return torch.arange(rows.shape[0]) % count, count


def _projection(matrices: list[torch.Tensor], regularization_alpha: float) -> torch.Tensor:
    width = matrices[0].shape[1]
    return torch.empty(width, width, dtype=matrices[0].dtype, device=matrices[0].device)


def _u_and_lambda(layer: object, projection: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.empty(weight.shape, dtype=torch.float32), torch.empty(weight.shape[1], dtype=torch.float32)


def use_shapes_only() -> None:
    """FRoD decomposes all weights on the host, in minutes."""
    import peft.tuners.adamss.layer
    import peft.tuners.frod.layer
    import peft.tuners.frod.model

    peft.tuners.adamss.layer.clustering_Z = _even_clusters
    peft.tuners.frod.model._projection_from_weights = _projection
    peft.tuners.frod.layer.FrodLayer._calculate_frod_u_and_lambda = _u_and_lambda
