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


def test_rows_that_do_not_occur_stay_as_they_are():
    table = torch.ones(3, 2)
    LazyAdam(table, 0.1).step(torch.tensor([1]), torch.ones(1, 2), 1)
    assert table[[0, 2]].eq(1).all()
    assert table[1].lt(1).all()
