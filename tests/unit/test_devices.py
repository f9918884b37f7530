from reactor_runtime.devices import default_device, torch_cuda_version, visible_cuda_devices


def test_no_device_is_visible_when_none_is_allowed() -> None:
    for chosen in ("", "-1", "-1,0"):
        assert visible_cuda_devices({"CUDA_VISIBLE_DEVICES": chosen}) == 0
        assert default_device({"CUDA_VISIBLE_DEVICES": chosen}) == "cpu"


def test_no_more_devices_are_visible_than_are_allowed_or_present() -> None:
    present = visible_cuda_devices({})
    for allowed, chosen in ((1, "0"), (2, "0,1"), (1, "0,-1,1"), (3, "0, 1 ,2")):
        assert visible_cuda_devices({"CUDA_VISIBLE_DEVICES": chosen}) == min(allowed, present)


def test_the_build_of_torch_is_read_without_importing_it() -> None:
    import importlib.util
    import subprocess
    import sys

    code = (
        "import sys\nfrom reactor_runtime.devices import default_device, torch_cuda_version\n"
        "print(torch_cuda_version(), default_device())\nassert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == str(torch_cuda_version())
    if importlib.util.find_spec("torch") is None:
        assert torch_cuda_version() is None
