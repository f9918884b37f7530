// One WebRTC connection to the server: made, used, lost. It is never repaired; a new one replaces it.

import { CallError, Calls } from "./calls.js";
import { pause } from "./rate.js";
import { decodeControl, decodeData, encodeCommand, encodeControl } from "./wire.js";

const READY_TIMEOUT_MS = 15_000;
const ANSWER_TIMEOUT_MS = 12_000;
const PING_MS = 5_000;
const UNSTEADY_MS = 4_000;
const MAX_MESSAGE_BYTES = 262_144;
const ENDS_NOTHING = ["message_too_large"]; // errors that answer nothing, after which life goes on

/** The connection could not be made: `code` is no_answer, no_path or no_channels. */
export class PeerError extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/**
 * Events: "track" ({name, track, receiver}), "message" (a broadcast), "problem" (an uncorrelated
 * error), "moderated", "unsteady" (detail: true or false), and once "lost" (its `ending`).
 */
export class Peer extends EventTarget {
  connectionId = null;
  ending = null; // once lost: {ended, reason, detail?}
  #server;
  sessionId;
  #tracks;
  #pc;
  #channels;
  #senders = new Map();
  #calls = { data: new Calls("data"), control: new Calls("ctrl") };
  #timers = {};
  #problem = "";

  constructor(server, sessionId, tracks, iceServers) {
    super();
    this.#server = server;
    this.sessionId = sessionId;
    this.#tracks = tracks;
    this.#pc = new RTCPeerConnection({ iceServers, bundlePolicy: "max-bundle" });
    this.#channels = {
      control: this.#openChannel("control", decodeControl),
      data: this.#openChannel("data", decodeData),
    };
    this.#pc.onconnectionstatechange = () => this.#watch();
    for (const track of tracks) this.#addTransceiver(track);
  }

  get isLost() {
    return this.ending !== null;
  }

  stats() {
    return this.#pc.getStats();
  }

  #addTransceiver({ name, kind, direction }) {
    const transceiver = this.#pc.addTransceiver(kind, { direction });
    if (direction === "sendonly") {
      this.#senders.set(name, transceiver.sender);
      return;
    }
    const { receiver } = transceiver;
    if ("jitterBufferTarget" in receiver) receiver.jitterBufferTarget = 0; // steering wants no delay
    queueMicrotask(() => this.#tell("track", { name, track: receiver.track }));
  }

  #openChannel(label, decode) {
    const channel = this.#pc.createDataChannel(label, { ordered: true });
    channel.binaryType = "arraybuffer";
    channel.onmessage = ({ data }) => this.#receive(label, decode, data);
    channel.onclose = () => this.#lose({ ended: false, reason: "the server closed the connection" });
    return channel;
  }

  /** Negotiate; on return both channels are open. `connectionId` replaces that connection's peer. */
  async connect(connectionId = null) {
    const registered = connectionId ?? this.#server.register(this.sessionId);
    const candidates = this.#collectCandidates();
    await this.#pc.setLocalDescription(await this.#pc.createOffer());
    this.connectionId = await registered;
    const offer = {
      sdp_offer: this.#pc.localDescription.sdp,
      client_info: { sdk_type: "page", sdk_version: "1" },
      track_mapping: this.#mapping(),
    };
    await this.#server.offer(this.sessionId, this.connectionId, offer, connectionId !== null);
    candidates.flush();
    await this.#pc.setRemoteDescription({ type: "answer", sdp: await this.#awaitAnswer() });
    await this.#awaitReady();
    this.#timers.ping = setInterval(() => this.notify("ping"), PING_MS);
  }

  #mapping() {
    const transceivers = this.#pc.getTransceivers();
    return this.#tracks.map(({ name, kind, direction }, index) => ({
      mid: transceivers[index].mid,
      name,
      kind,
      direction,
    }));
  }

  /** Candidates wait for the connection's id, then go as they are found, in batches. */
  #collectCandidates() {
    let open = false;
    let final = false;
    let found = [];
    let scheduled = false;
    const send = () => {
      scheduled = false;
      if (!open || this.isLost || (found.length === 0 && !final)) return;
      const batch = found;
      found = [];
      // A lost batch costs little: the server also learns addresses from the checks themselves.
      this.#server.candidates(this.sessionId, this.connectionId, batch, final).catch(() => {});
    };
    this.#pc.onicecandidate = ({ candidate }) => {
      if (!candidate) final = true;
      else if (candidate.candidate) {
        const { sdpMid, sdpMLineIndex } = candidate;
        found.push({ candidate: candidate.candidate, sdp_mid: sdpMid, sdp_mline_index: sdpMLineIndex });
      }
      if (!scheduled) queueMicrotask(send);
      scheduled = true;
    };
    return {
      flush: () => {
        open = true;
        send();
      },
    };
  }

  async #awaitAnswer() {
    const deadline = performance.now() + ANSWER_TIMEOUT_MS;
    for (let wait = 50; performance.now() < deadline; wait = Math.min(1000, wait * 2)) {
      const sdp = await this.#server.answer(this.sessionId, this.connectionId);
      if (sdp) return sdp;
      await pause(wait);
      if (this.isLost) break;
    }
    throw new PeerError("no_answer");
  }

  async #awaitReady() {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (performance.now() < deadline && !this.isLost) {
      const open = Object.values(this.#channels).every((channel) => channel.readyState === "open");
      if (open && this.#pc.connectionState === "connected") return;
      await pause(10);
    }
    throw new PeerError(this.#pc.connectionState === "connected" ? "no_channels" : "no_path");
  }

  #receive(label, decode, payload) {
    if (!(payload instanceof ArrayBuffer)) return; // text is the other version of the protocol
    let frame;
    try {
      frame = decode(new Uint8Array(payload));
    } catch {
      this.#tell("problem", { code: "unreadable", message: "A message of the server made no sense" });
      return;
    }
    if (frame.requestId && this.#calls[label].settle(frame)) return;
    if (frame.type === "message") this.#tell("message", frame.body);
    else if (frame.type === "error") this.#complain(frame.body);
    else if (frame.type === "moderation") this.#moderate(frame.body);
    else if (frame.type === "session_ended") {
      this.#lose({ ended: true, reason: frame.body.reason, detail: this.#problem });
    }
  }

  /** An error that answers nothing: before an end of the session it says why. */
  #complain(error) {
    if (error.code === "session_ended") return; // for clients that ignore the notice, which says it too
    if (!ENDS_NOTHING.includes(error.code)) this.#problem = error.message;
    this.#tell("problem", error);
  }

  #moderate(verdict) {
    this.#tell("moderated", verdict);
    if (verdict.action === "terminate") this.#lose({ ended: true, reason: "moderated", detail: verdict.message });
  }

  #watch() {
    const state = this.#pc.connectionState;
    clearTimeout(this.#timers.unsteady);
    this.#tell("unsteady", state === "disconnected");
    const giveUp = () => this.#lose({ ended: false, reason: "the network path was lost" });
    if (state === "failed" || state === "closed") giveUp();
    else if (state === "disconnected") this.#timers.unsteady = setTimeout(giveUp, UNSTEADY_MS);
  }

  #send(label, frame) {
    if (frame.length > MAX_MESSAGE_BYTES) throw new CallError("message_too_large");
    const channel = this.#channels[label];
    if (channel.readyState !== "open") throw new CallError("not_connected");
    channel.send(frame);
  }

  /** Call a command; resolves with the reply `{name, body}` or null for an acknowledgement. */
  async command(name, data, uploads) {
    const frame = await this.#calls.data.request((id) =>
      this.#send("data", encodeCommand(id, name, data, uploads)),
    );
    return frame.type === "message" ? frame.body : null;
  }

  /** Send a control message that has no answer; a closed channel swallows it. */
  notify(member, body) {
    try {
      this.#send("control", encodeControl("", member, body));
    } catch {
      // The loss itself is told by "lost"; there is nobody left to notify.
    }
  }

  /** The clip of the last `seconds`, as the server promises it. Rejects with CallError. */
  async clip(seconds) {
    const frame = await this.#calls.control.request((id) =>
      this.#send("control", encodeControl(id, "request_clip", { seconds })),
    );
    if (frame.type !== "clip_ready") throw new CallError("clip_failed", frame.body?.reason);
    return frame.body;
  }

  /** Ask to feed input track `name`, then send `media` into it. Rejects with CallError. */
  async publish(name, media) {
    await this.#calls.control.request((id) =>
      this.#send("control", encodeControl(id, "publish_track", { name })),
    );
    await this.#senders.get(name).replaceTrack(media);
  }

  async unpublish(name) {
    this.notify("unpublish_track", { name });
    await this.#senders.get(name).replaceTrack(null);
  }

  #lose(detail) {
    if (this.isLost) return;
    this.ending = detail;
    clearInterval(this.#timers.ping);
    clearTimeout(this.#timers.unsteady);
    for (const calls of Object.values(this.#calls)) calls.failAll(detail.ended ? "session_ended" : "not_connected");
    this.#pc.close();
    this.#tell("lost", detail);
  }

  close() {
    this.#lose({ ended: false, reason: "closed by the page" });
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
