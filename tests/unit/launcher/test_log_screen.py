"""Who follows a job sees what its ranks print; torchrun's own reports are held back."""

from reactor_runtime.launcher.log_screen import LogScreen

RANKS = b"[j node0 rank0] one\n[j node0 rank0] [j node0 torchrun] two\r three\n"
TORCHRUN = b"[j node1 torchrun] Traceback (most recent call last):\n"


def test_torchruns_lines_are_held_back() -> None:
    screen = LogScreen()
    assert screen.pass_on(TORCHRUN + RANKS + TORCHRUN) == RANKS
    assert list(screen.held) == [TORCHRUN, TORCHRUN]
    assert screen.pass_on(b"") == b""


def test_what_is_held_is_bounded() -> None:
    screen = LogScreen()
    for number in range(500):
        screen.pass_on(b"[j node1 torchrun] %d\n" % number)
    assert list(screen.held)[-1] == b"[j node1 torchrun] 499\n"
    assert len(screen.held) == 100


def test_all_of_them_may_be_asked_for() -> None:
    screen = LogScreen(shows_all=True)
    assert screen.pass_on(TORCHRUN + RANKS) == TORCHRUN + RANKS
