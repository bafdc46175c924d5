"""Runs over loaders whose batches differ, beside the same loop in a simulation."""
import symprof  # Before torch.

import pytest
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(1000, 256)
        self.layers = nn.Sequential(*(nn.Sequential(nn.Linear(256, 1024), nn.GELU(), nn.Linear(1024, 256)) for _ in range(3)))
        self.head = nn.Linear(256, 1000)

    def forward(self, ids: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(self.head(self.layers(self.tokens(ids))).flatten(0, 1), labels.flatten())


LENGTHS = [300, 40, 700, 40, 300, 900, 64, 700, 900, 40]


def batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    return [(torch.zeros(8, length, dtype=torch.long), torch.zeros(8, length, dtype=torch.long)) for length in LENGTHS]


def loop(micro_batches: int, evaluations: dict[int, list[tuple[torch.Tensor, torch.Tensor]]] | None = None) -> list[tuple[int, int]]:
    """Allocated and reserved bytes after each pass, of the loop as a program."""
    def evaluate(others: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        model.eval()
        with torch.no_grad():
            for ids, labels in others:
                inputs = ids.cuda(), labels.cuda()
                loss = model(*inputs)  # noqa: F841
        model.train()

    held = []
    with symprof.simulate(device="h200"):
        model = Net().cuda()
        optimizer = torch.optim.AdamW(model.parameters())
        for i, batch in enumerate(batches()):
            inputs = tuple(tensor.cuda() for tensor in batch)
            loss = model(*inputs)
            loss.backward()
            if (i + 1) % micro_batches == 0:
                optimizer.step()
                optimizer.zero_grad()
            held.append((torch.cuda.memory_allocated(), torch.cuda.memory_reserved()))
            for every, others in (evaluations or {}).items():
                if (i + 1) % (every * micro_batches) == 0:
                    evaluate(others)
                    held.append((torch.cuda.memory_allocated(), torch.cuda.memory_reserved()))
    return held


@pytest.mark.parametrize("micro_batches", [1, 2, 5])
def test_rows_are_those_of_the_loop(micro_batches: int) -> None:
    fit = symprof.fit_run(Net(), batches(), loss=lambda loss: loss, optimizer="adamw", micro_batches=micro_batches)
    assert [(step.allocated_bytes, step.reserved_bytes) for step in fit.steps] == loop(micro_batches)
    assert fit and fit.refused_step is None
    assert fit.steps[fit.peak_step].shape[0] == (8, 900)


@pytest.mark.parametrize("micro_batches", [1, 2])
def test_evaluations_come_between_updates(micro_batches: int) -> None:
    evaluations = {2: [(torch.zeros(32, length, dtype=torch.long), torch.zeros(32, length, dtype=torch.long)) for length in (128, 512, 64)],
                   3: [(torch.zeros(4, 2000, dtype=torch.long), torch.zeros(4, 2000, dtype=torch.long))]}
    fit = symprof.fit_run(Net(), batches(), loss=lambda loss: loss, optimizer="adamw", micro_batches=micro_batches, between=evaluations)
    assert [(step.allocated_bytes, step.reserved_bytes) for step in fit.steps] == loop(micro_batches, evaluations)
    updates = len(LENGTHS) // micro_batches
    assert sum(step.is_evaluation for step in fit.steps) == updates // 2 + updates // 3


def test_a_limit_ends_the_run() -> None:
    fit = symprof.fit_run(Net(), batches(), loss=lambda loss: loss, optimizer="adamw")
    tight = fit.with_settings(memory_fraction=0.9 * fit.peak_allocated_bytes / 150109880320)
    assert not tight
    assert tight.refused_step is not None
    assert LENGTHS[tight.refused_step] == 900
    assert "expandable_segments:True" in fit.helpful()
