"""A WHEP player or WHIP publisher on GStreamer's webrtcbin: run by the system's Python, not ours.

    /usr/bin/python3 gstreamer_client.py player|trickling_player|camera|microphone URL [TOKEN]

Prints one JSON object a line: what it plays (each picture's mean luma and width, the pitch of each
half second of sound), ICE state and HTTP statuses. A line on its standard input ends it: it deletes
its connection. A trickling player offers before it has a candidate, and sends each as it is found.
"""

import array
import json
import queue
import sys
import threading
import urllib.request
from itertools import pairwise

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
OPUS = "application/x-rtp,media=audio,encoding-name=OPUS,payload=97,clock-rate=48000"
HZ, RATE = 700, 48_000  # of the microphone; of what is measured
RTC = "webrtcbin name=rtc bundle-policy=max-bundle"
PARTS = {
    "player": RTC,
    "trickling_player": RTC,
    "camera": "videotestsrc is-live=true pattern=solid-color foreground-color=0xffc8c8c8 "
    "! video/x-raw,width=320,height=180,framerate=15/1 ! vp8enc deadline=1 ! rtpvp8pay "
    f"! {VP8} ! {RTC}",
    "microphone": f"audiotestsrc is-live=true freq={HZ} ! audio/x-raw,rate={RATE},channels=2 "
    f"! opusenc ! rtpopuspay ! {OPUS} ! {RTC}",
}
TAILS = {
    "video": "rtpvp8depay wait-for-keyframe=true request-keyframe=true ! vp8dec "
    "! videoconvert ! video/x-raw,format=GRAY8 "
    "! appsink name=sink emit-signals=true sync=false max-buffers=1 drop=true",
    "audio": "rtpopusdepay ! opusdec ! audioconvert ! audioresample "
    f"! audio/x-raw,format=S16LE,channels=1,rate={RATE} "
    "! appsink name=sink emit-signals=true sync=false",
}


def say(**what: object) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


class Client:
    """One connection, from its offer until it is deleted."""

    def __init__(self) -> None:
        self.pipeline = Gst.Pipeline.new()
        self.pipeline.add(Gst.parse_bin_from_description(PARTS[WAY], False))
        self.rtc = self.pipeline.get_by_name("rtc")
        self.resource = self.etag = ""
        self.candidates: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.sound = array.array("h")
        directions = GstWebRTC.WebRTCRTPTransceiverDirection
        if WAY.endswith("player"):
            for caps in (VP8, OPUS):
                self.rtc.emit("add-transceiver", directions.RECVONLY, Gst.Caps.from_string(caps))
            self.rtc.connect("pad-added", self.play)
        else:
            self.rtc.emit("get-transceiver", 0).set_property("direction", directions.SENDONLY)
        self.rtc.connect("on-negotiation-needed", self.offer)
        if WAY == "trickling_player":
            self.rtc.connect("on-ice-candidate", lambda _, __, text: self.candidates.put(text))
        else:
            self.rtc.connect("notify::ice-gathering-state", self.gathered)
        self.rtc.connect("notify::ice-connection-state", self.moved)
        self.pipeline.set_state(Gst.State.PLAYING)

    def offer(self, rtc: Gst.Element) -> None:
        rtc.emit("create-offer", None, Gst.Promise.new_with_change_func(self.offered, None))

    def offered(self, promise: Gst.Promise, *_: object) -> None:
        reply = promise.get_reply()  # it owns the offer
        self.rtc.emit("set-local-description", reply.get_value("offer"), Gst.Promise.new())
        if WAY == "trickling_player":
            sdp = reply.get_value("offer").sdp.as_text()
            threading.Thread(target=self.trickle, args=(sdp,), daemon=True).start()

    def gathered(self, rtc: Gst.Element, _: object) -> None:
        if rtc.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            threading.Thread(target=self.connect, daemon=True).start()

    def trickle(self, sdp: str) -> None:
        self.post(sdp)
        ufrag = next(line for line in sdp.splitlines() if line.startswith("a=ice-ufrag:"))
        headers = {"Content-Type": "application/trickle-ice-sdpfrag", "If-Match": self.etag}
        while text := self.candidates.get():
            fragment = f"{ufrag}\r\nm=video 9 RTP/AVP 0\r\na=mid:0\r\na={text}\r\n".encode()
            request = urllib.request.Request(
                self.resource, fragment, {**headers, **TOKEN}, method="PATCH"
            )
            with urllib.request.urlopen(request) as response:
                say(patched=response.status)

    def connect(self) -> None:
        self.post(self.rtc.get_property("local-description").sdp.as_text())

    def post(self, offer: str) -> None:
        sdp = offer.encode()
        request = urllib.request.Request(URL, sdp, {"Content-Type": "application/sdp", **TOKEN})
        with urllib.request.urlopen(request) as response:
            say(status=response.status)
            self.resource = URL.split("/wh")[0] + response.headers["Location"]
            self.etag = response.headers["ETag"]
            _, message = GstSdp.SDPMessage.new_from_text(response.read().decode())
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        self.rtc.emit("set-remote-description", answer, Gst.Promise.new())

    def moved(self, rtc: Gst.Element, _: object) -> None:
        say(ice=rtc.get_property("ice-connection-state").value_nick)

    def play(self, _: Gst.Element, pad: Gst.Pad) -> None:
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        tail = Gst.parse_bin_from_description(TAILS[kind], True)
        tail.get_by_name("sink").connect("new-sample", self.show if kind == "video" else self.hear)
        self.rtc.get_parent().add(tail)
        tail.sync_state_with_parent()
        pad.link(tail.get_static_pad("sink"))

    def show(self, sink: Gst.Element) -> Gst.FlowReturn:
        sample = sink.emit("pull-sample")
        data = bytes_of(sample)
        width = sample.get_caps().get_structure(0).get_int("width").value
        say(luma=sum(data[::97]) // len(data[::97]), width=width)
        return Gst.FlowReturn.OK

    def hear(self, sink: Gst.Element) -> Gst.FlowReturn:
        self.sound.frombytes(bytes_of(sink.emit("pull-sample")))
        if len(self.sound) >= RATE // 2:
            rising = sum(a < 0 <= b for a, b in pairwise(self.sound))
            say(hz=round(rising * RATE / len(self.sound)))
            del self.sound[:]
        return Gst.FlowReturn.OK

    def delete(self) -> None:
        request = urllib.request.Request(self.resource, headers=TOKEN, method="DELETE")
        with urllib.request.urlopen(request) as response:
            say(deleted=response.status)
        self.pipeline.set_state(Gst.State.NULL)


def bytes_of(sample: Gst.Sample) -> bytes:
    buffer = sample.get_buffer()
    return bytes(buffer.extract_dup(0, buffer.get_size()))


Gst.init(None)
client, loop = Client(), GLib.MainLoop()


def end() -> None:
    sys.stdin.readline()
    client.delete()
    loop.quit()


threading.Thread(target=end, daemon=True).start()
loop.run()
