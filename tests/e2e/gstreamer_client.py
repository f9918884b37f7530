"""A WHEP player or WHIP publisher on GStreamer's webrtcbin: run by the system's Python, not ours.

    /usr/bin/python3 gstreamer_client.py whep|whip URL [TOKEN]

Prints one JSON object a line: each picture's mean luma (playback), ICE state and HTTP statuses. A
line on its standard input ends it: it deletes its connection.
"""

import json
import sys
import threading
import urllib.request

import gi  # type: ignore[import-not-found]

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import (  # type: ignore[import-not-found]  # noqa: E402
    GLib,
    Gst,
    GstSdp,
    GstWebRTC,
)

WAY, URL = sys.argv[1:3]
TOKEN = {"Authorization": f"Bearer {sys.argv[3]}"} if len(sys.argv) > 3 else {}
VP8 = "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000"
CAMERA = (
    "videotestsrc is-live=true pattern=solid-color foreground-color=0xffc8c8c8 "
    "! video/x-raw,width=320,height=180,framerate=15/1 ! vp8enc deadline=1 ! rtpvp8pay "
    f"! {VP8} ! webrtcbin name=rtc bundle-policy=max-bundle"
)
PLAYER = "webrtcbin name=rtc bundle-policy=max-bundle"


def say(**what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


class Client:
    """One connection, from its offer until it is deleted."""

    def __init__(self) -> None:
        self.pipeline = Gst.Pipeline.new()
        parts = PLAYER if WAY == "whep" else CAMERA
        self.pipeline.add(Gst.parse_bin_from_description(parts, False))
        self.rtc = self.pipeline.get_by_name("rtc")
        self.resource = ""
        directions = GstWebRTC.WebRTCRTPTransceiverDirection
        if WAY == "whep":
            self.rtc.emit("add-transceiver", directions.RECVONLY, Gst.Caps.from_string(VP8))
            self.rtc.connect("pad-added", self.play)
        else:
            self.rtc.emit("get-transceiver", 0).set_property("direction", directions.SENDONLY)
        self.rtc.connect("on-negotiation-needed", self.offer)
        self.rtc.connect("notify::ice-gathering-state", self.gathered)
        self.rtc.connect("notify::ice-connection-state", self.moved)
        self.pipeline.set_state(Gst.State.PLAYING)

    def offer(self, rtc: Gst.Element) -> None:
        rtc.emit("create-offer", None, Gst.Promise.new_with_change_func(self.offered, None))

    def offered(self, promise: Gst.Promise, *_: object) -> None:
        reply = promise.get_reply()  # it owns the offer
        self.rtc.emit("set-local-description", reply.get_value("offer"), Gst.Promise.new())

    def gathered(self, rtc: Gst.Element, _: object) -> None:
        if rtc.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            threading.Thread(target=self.connect, daemon=True).start()

    def connect(self) -> None:
        sdp = self.rtc.get_property("local-description").sdp.as_text().encode()
        request = urllib.request.Request(URL, sdp, {"Content-Type": "application/sdp", **TOKEN})
        with urllib.request.urlopen(request) as response:
            say(status=response.status)
            self.resource = URL.split("/wh")[0] + response.headers["Location"]
            _, message = GstSdp.SDPMessage.new_from_text(response.read().decode())
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        self.rtc.emit("set-remote-description", answer, Gst.Promise.new())

    def moved(self, rtc: Gst.Element, _: object) -> None:
        say(ice=rtc.get_property("ice-connection-state").value_nick)

    def play(self, _: Gst.Element, pad: Gst.Pad) -> None:
        tail = Gst.parse_bin_from_description(
            "rtpvp8depay ! vp8dec ! videoconvert ! video/x-raw,format=GRAY8 "
            "! appsink name=sink emit-signals=true sync=false max-buffers=1 drop=true",
            True,
        )
        tail.get_by_name("sink").connect("new-sample", self.show)
        self.rtc.get_parent().add(tail)
        tail.sync_state_with_parent()
        pad.link(tail.get_static_pad("sink"))

    def show(self, sink: Gst.Element) -> Gst.FlowReturn:
        buffer = sink.emit("pull-sample").get_buffer()
        data = buffer.extract_dup(0, buffer.get_size())
        say(luma=sum(data[::97]) // len(data[::97]))
        return Gst.FlowReturn.OK

    def delete(self) -> None:
        request = urllib.request.Request(self.resource, headers=TOKEN, method="DELETE")
        with urllib.request.urlopen(request) as response:
            say(deleted=response.status)
        self.pipeline.set_state(Gst.State.NULL)


Gst.init(None)
client, loop = Client(), GLib.MainLoop()


def end() -> None:
    sys.stdin.readline()
    client.delete()
    loop.quit()


threading.Thread(target=end, daemon=True).start()
loop.run()
