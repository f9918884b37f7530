import subprocess
import sys
from dataclasses import fields

from reactor_runtime.metrics import CONTENT_TYPE, Metrics


def test_a_counter_shows_up_in_the_text() -> None:
    metrics = Metrics()
    metrics.sessions_ended.labels("stopped").inc()
    assert 'reactor_sessions_ended_total{reason="stopped"} 1.0' in metrics.render().decode()


def test_two_servers_in_one_process_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.sessions_started.inc()
    assert "reactor_sessions_started_total 1.0" in one.render().decode()
    assert "reactor_sessions_started_total 0.0" in other.render().decode()


def test_every_name_starts_with_reactor() -> None:
    names = {family.name for family in Metrics().registry.collect()}
    assert len(names) >= len(fields(Metrics)) - 1
    assert all(name.startswith("reactor_") for name in names)


def test_the_content_type_is_the_documented_one() -> None:
    assert CONTENT_TYPE == "text/plain; version=1.0.0; charset=utf-8"


def test_importing_the_module_loads_no_prometheus_client() -> None:
    code = (
        "import sys, reactor_runtime.metrics; sys.exit(any('prometheus' in m for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0
