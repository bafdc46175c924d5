"""Methods of tensors that PyTorch answers by the address or the backend of a tensor; one without storage has neither. And the
storage's own size, which a program may set without any call of an operator."""
from typing import Any

import torch


_of_torch = {name: getattr(torch.Tensor, name) for name in ("new", "new_tensor")}


def _is_on_host(tensor: torch.Tensor, device: Any) -> bool:
    return tensor.device.type == "cpu" and (device is None or torch.device(device).type == "cpu")


def new_tensor(self: torch.Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
               **others: Any) -> Any:
    """PyTorch's own looks for the backend of `self` by its dispatch key."""
    if _is_on_host(self, device):
        return _of_torch["new_tensor"](self, data, dtype=dtype, device=device, requires_grad=requires_grad, **others)
    options: dict[str, Any] = {"dtype": dtype or self.dtype, "device": device or self.device}
    if isinstance(data, torch.Tensor):
        return data.detach().clone().to(**options).requires_grad_(requires_grad)
    return torch.tensor(data, **options, requires_grad=requires_grad)


def new(self: torch.Tensor, *sizes: Any, device: Any = None) -> Any:
    """The constructor of PyTorch's first versions: sizes, or data. Data loaders' workers give it memory that they share."""
    if _is_on_host(self, device):
        return _of_torch["new"](self, *sizes, **({} if device is None else {"device": device}))
    if len(sizes) == 1 and not isinstance(sizes[0], (int, torch.Size)):
        return new_tensor(self, sizes[0], device=device)
    shape = sizes[0] if sizes and isinstance(sizes[0], torch.Size) else sizes or (0,)
    return torch.empty(shape, dtype=self.dtype, device=device or self.device)


@torch.no_grad()
def _copy_of(storage: torch.UntypedStorage, device: torch.device) -> torch.UntypedStorage:
    """As `storage_copy` makes it (torch/csrc/StorageMethods.cpp): by a copy of bytes."""
    copied = torch.empty(storage.nbytes(), dtype=torch.uint8, device=device)
    copied.copy_(torch.empty(0, dtype=torch.uint8, device=device).set_(storage))
    return copied.untyped_storage()


def _new_storage(cls: type[torch.UntypedStorage], *args: Any, device: Any = None, **others: Any) -> Any:
    """torch.load(map_location="cuda") and `storage.cuda()` allocate storages by their class (torch/_utils.py), and make
    tensors where the storage says that it is."""
    if device is None or torch.device(device).type != "cuda":
        return _made(cls, *args, **others, **({} if device is None else {"device": device}))
    bytes_there = torch.empty(*args or (0,), dtype=torch.uint8, device=device)
    made: Any = bytes_there.untyped_storage()
    made._symprof_device = bytes_there.device
    return made


_made: Any = torch.UntypedStorage.__new__
_device_of: Any = torch.UntypedStorage.device
_device = property(lambda self: getattr(self, "_symprof_device", None) or _device_of.__get__(self))


def answers(program: Any) -> dict[tuple[Any, str], Any]:
    """By class and name."""
    resize = torch.UntypedStorage.resize_

    def resize_(self: torch.UntypedStorage, size: int) -> torch.UntypedStorage:
        """FSDP frees the parameters that it has gathered, and takes blocks for them again, by this."""
        resize(self, size)
        program.storage_resized(self)
        return self

    copy_deep: Any = torch.Tensor.__deepcopy__

    def deepcopy(self: torch.Tensor, memo: dict[Any, Any]) -> Any:
        """PyTorch copies the storage first, without a call of an operator, and then makes a tensor over it."""
        if program.has_no_values(self) and id(self) not in memo:
            storage, copies = self.untyped_storage(), memo.setdefault("torch", {})
            if storage._cdata not in copies:
                copies[storage._cdata] = _copy_of(storage, self.device)
        return copy_deep(self, memo)

    return {(torch.Tensor, "new_tensor"): new_tensor, (torch.Tensor, "new"): new, (torch.Tensor, "__deepcopy__"): deepcopy,
            (torch.UntypedStorage, "resize_"): resize_, (torch.UntypedStorage, "__new__"): staticmethod(_new_storage),
            (torch.UntypedStorage, "device"): _device}
