import base64

import pytest

from reactor_runtime.http.access import AccessRules, Approach, Verdict, name_in

OPEN = AccessRules(bind_host="127.0.0.1")
GUARDED = AccessRules(bind_host="0.0.0.0", token="s3cret-é")


def judge(rules: AccessRules = OPEN, **approach: object) -> Verdict:
    known: dict[str, object] = {"method": "GET", "path": "/session", "host": "localhost:8080"}
    return rules.judge(Approach(**{**known, **approach}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "host",
    ["localhost:8080", "LOCALHOST", "app.localhost:1", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080",
     "192.168.1.5:8080", "[fe80::1]", "localhost."],
)  # fmt: skip
def test_loopback_names_and_addresses_are_hosts_of_ours(host: str) -> None:
    assert judge(host=host) is Verdict.WELCOME


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example",
     "", " ", "a b", "user@localhost", "localhost:80:80", "0x7f.1", "http://localhost"],
)  # fmt: skip
def test_other_names_are_not(host: str) -> None:
    assert judge(host=host) is Verdict.WRONG_HOST


def test_the_name_bound_to_and_names_let_in_are_hosts_of_ours() -> None:
    rules = AccessRules(bind_host="gpu-box.lan", allow_hosts=("Stream.Example",))
    assert judge(rules, host="gpu-box.lan:8080") is Verdict.WELCOME
    assert judge(rules, host="stream.example") is Verdict.WELCOME
    assert judge(rules, host="other.example") is Verdict.WRONG_HOST


def test_a_program_without_host_or_origin_is_let_in() -> None:
    assert judge(host=None) is Verdict.WELCOME
    assert judge(origin=None) is Verdict.WELCOME


@pytest.mark.parametrize(
    "origin",
    ["http://localhost:3000", "https://localhost", "http://127.0.0.1:5173", "http://[::1]:9",
     "http://dev.localhost:1"],
)  # fmt: skip
def test_any_loopback_origin_is_let_in(origin: str) -> None:
    assert judge(origin=origin) is Verdict.WELCOME


def test_our_own_host_is_let_in_on_any_port() -> None:
    assert judge(host="192.168.1.5:8080", origin="http://192.168.1.5:8080") is Verdict.WELCOME
    assert judge(host="192.168.1.5:8080", origin="https://192.168.1.5") is Verdict.WELCOME


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "", "http://192.168.1.66", "http://localhost.evil.example",
     "file://", "chrome-extension://abc", "http://localhost@evil.example", "http://localhost/x",
     "http://localhost:80:80", "http://"],
)  # fmt: skip
def test_other_origins_are_refused(origin: str) -> None:
    assert judge(origin=origin) is Verdict.FOREIGN_ORIGIN
    assert judge(origin=origin, method="OPTIONS", is_preflight=True) is Verdict.FOREIGN_ORIGIN


def test_an_allowed_origin_is_let_in_exactly() -> None:
    rules = AccessRules(bind_host="127.0.0.1", allow_origins=("https://App.example/",))
    assert judge(rules, origin="https://app.example") is Verdict.WELCOME
    assert judge(rules, origin="http://app.example") is Verdict.FOREIGN_ORIGIN
    assert judge(rules, origin="https://app.example:8443") is Verdict.FOREIGN_ORIGIN


def test_a_star_lets_every_origin_in() -> None:
    rules = AccessRules(bind_host="127.0.0.1", allow_origins=("*",))
    assert judge(rules, origin="https://any.example") is Verdict.WELCOME


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_with_a_token_every_route_asks_for_it(method: str) -> None:
    assert judge(GUARDED, method=method) is Verdict.NO_TOKEN
    right = "Bearer s3cret-é".encode()
    assert judge(GUARDED, method=method, authorization=right) is Verdict.WELCOME
    assert judge(GUARDED, method=method, authorization=b"bearer  s3cret-\xc3\xa9 ") is (
        Verdict.WELCOME
    )


@pytest.mark.parametrize(
    "authorization", [b"Bearer", b"Bearer local", b"Basic czM=", b"Bearer \xff", b"basic Og=="]
)
def test_a_wrong_token_is_told_as_one(authorization: bytes) -> None:
    assert judge(GUARDED, authorization=authorization) is Verdict.WRONG_TOKEN


@pytest.mark.parametrize("authorization", [b"", b"s3cret", b"Basic !", b"Basic czM", b"Digest x"])
def test_what_is_no_token_is_none(authorization: bytes) -> None:
    assert judge(GUARDED, authorization=authorization) is Verdict.NO_TOKEN


@pytest.mark.parametrize("pair", ["reactor:s3cret-é", ":s3cret-é", "s3cret-é:", "s3cret-é"])
def test_the_token_of_an_address_counts(pair: str) -> None:
    encoded = base64.b64encode(pair.encode())
    assert judge(GUARDED, authorization=b"Basic " + encoded) is Verdict.WELCOME


def test_a_token_in_the_query_counts_on_the_page_and_the_events_only() -> None:
    query = b"since=1&token=s3cret-%C3%A9"
    for path in ("/", "/events"):
        assert judge(GUARDED, path=path, query=query) is Verdict.WELCOME
    assert judge(GUARDED, path="/session", query=query) is Verdict.NO_TOKEN
    assert judge(GUARDED, path="/", method="POST", query=query) is Verdict.NO_TOKEN
    assert judge(GUARDED, path="/", query=b"token=%FF") is Verdict.WRONG_TOKEN
    assert judge(GUARDED, path="/", query=b"token=\xff") is Verdict.NO_TOKEN
    assert judge(GUARDED, path="/", query=b"&".join([b"a=1"] * 50)) is Verdict.NO_TOKEN


def test_its_holder_may_come_from_any_origin_and_nobody_else_may() -> None:
    foreign = "https://app.example"
    right = "Bearer s3cret-é".encode()
    assert judge(GUARDED, origin=foreign, authorization=right) is Verdict.WELCOME
    assert judge(GUARDED, origin=foreign) is Verdict.FOREIGN_ORIGIN
    assert judge(GUARDED, origin=foreign, method="OPTIONS", is_preflight=True) is Verdict.PREFLIGHT


def test_a_right_token_does_not_cure_a_wrong_host() -> None:
    assert judge(GUARDED, host="evil.example", authorization="Bearer s3cret-é".encode()) is (
        Verdict.WRONG_HOST
    )


@pytest.mark.parametrize(
    "path", ["/health", "/health/ready", "/page/app.js", "/uploads/x", "/clips"]
)
def test_probes_page_files_and_capabilities_need_no_token(path: str) -> None:
    assert judge(GUARDED, path=path) is Verdict.WELCOME


@pytest.mark.parametrize("path", ["/clips", "/clips/file", "/clips/metadata"])
def test_a_clip_needs_a_token_where_its_address_is_no_secret(path: str) -> None:
    secret = b"session_id=" + b"0a" * 16
    assert judge(GUARDED, path=path, query=secret) is Verdict.WELCOME
    right = "Bearer s3cret-é".encode()
    for query in (b"session_id=take", secret + b"&session_id=take", secret + b"&a" * 20, b"\xff"):
        assert judge(GUARDED, path=path, query=query) is Verdict.NO_TOKEN
        assert judge(GUARDED, path=path, query=query, authorization=right) is Verdict.WELCOME


@pytest.mark.parametrize("path", ["/healthy", "/metrics", "/schema", "/sessions/x/uploads"])
def test_what_only_looks_like_them_does(path: str) -> None:
    assert judge(GUARDED, path=path) is Verdict.NO_TOKEN


def test_no_secret_is_in_a_repr() -> None:
    shown = repr(GUARDED) + repr(
        Approach(method="GET", path="/", query=b"token=s3cret", authorization=b"Bearer s3cret")
    )
    assert "s3cret" not in shown


def test_the_name_is_read_from_an_authority() -> None:
    assert name_in("[::1]:80") == "::1"
    assert name_in("Host.Example.:443") == "host.example"
    assert name_in("x/y") == ""
