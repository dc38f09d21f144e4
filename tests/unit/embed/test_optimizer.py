import torch

from workflow_scripts.stages.embed.optimizer import LazyAdam


def test_updates_are_those_of_sparse_adam():
    torch.manual_seed(1)
    ours = torch.randn(6, 3)
    theirs = ours.clone().requires_grad_()
    lazy = LazyAdam(ours, 0.05)
    peer = torch.optim.SparseAdam([theirs], lr=0.05)
    for number, rows in enumerate(([0, 2], [2], [1, 2, 5], [0, 5]), 1):
        gradient = torch.randn(len(rows), 3)
        lazy.step(torch.tensor(rows), gradient, number)
        theirs.grad = torch.sparse_coo_tensor([rows], gradient, (6, 3), check_invariants=True)
        peer.step()
        torch.testing.assert_close(ours, theirs.detach())
