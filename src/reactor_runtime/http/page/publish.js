// Sending the person's camera, microphone or a media file into the model's input tracks.

import { CallError } from "./calls.js";
import { h, icon } from "./element.js";
import { humanName } from "./schema.js";
import { captureWords, refusalWords } from "./words.js";

const VIDEO_WISH = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } };
const AUDIO_WISH = { echoCancellation: true, noiseSuppression: true };

async function openDevice(kind) {
  if (!navigator.mediaDevices) throw new Error("there is no access to devices");
  const wish = kind === "video" ? { video: VIDEO_WISH } : { audio: AUDIO_WISH };
  const stream = await navigator.mediaDevices.getUserMedia(wish);
  return stream.getTracks()[0];
}

/** Plays `file` in a loop and returns its track of `kind`; works without any device. */
async function openFile(file, kind) {
  const player = h("video", { loop: true, playsinline: true });
  const stopPlaying = () => {
    player.pause();
    URL.revokeObjectURL(player.src);
  };
  player.muted = kind === "video";
  player.src = URL.createObjectURL(file);
  try {
    await player.play();
    const capture = player.captureStream ?? player.mozCaptureStream;
    if (!capture) throw new Error("this browser cannot send a file");
    const track = capture.call(player).getTracks().find((found) => found.kind === kind);
    if (!track) throw new Error(`the file has no ${kind}`);
    track.addEventListener("page-stop", stopPlaying);
    return track;
  } catch (error) {
    stopPlaying();
    throw error;
  }
}

/** Let go of a device, or of the player of a file. */
function release(media) {
  media.stop();
  media.dispatchEvent(new Event("page-stop"));
}

/** One input track: off, or fed by a device or a file. */
class Input {
  media = null;
  #name;
  #what;
  #publisher;
  #toggle;
  #problem;

  constructor({ name, kind }, publisher) {
    this.#name = name;
    this.kind = kind;
    this.#what = kind === "video" ? "camera" : "microphone";
    this.#publisher = publisher;
    this.#toggle = h("button", { type: "button", class: "publish", onclick: () => this.#press() });
    this.#problem = h("p", { class: "problem", role: "alert", hidden: true });
    const accept = kind === "video" ? "video/*" : "audio/*,video/*";
    const file = h("input", { type: "file", accept, class: "file-input", "aria-label": `Send a file to ${name}` });
    file.addEventListener("change", () => {
      const [chosen] = file.files;
      file.value = ""; // the same file may be chosen again
      if (chosen) void this.#begin(() => openFile(chosen, kind));
    });
    this.element = h(
      "div",
      { class: "input", "data-input": name },
      h("div", { class: "input-line" }, this.#toggle, h("label", { class: "from-file", title: "Send a file instead" }, icon("file"), file)),
      this.#problem,
    );
    this.#show("");
  }

  /** The track's name where it says more than the device does. */
  get #aside() {
    const name = humanName(this.#name);
    return name.toLowerCase() === this.#what ? "" : name;
  }

  #press() {
    if (this.media) void this.end();
    else void this.begin();
  }

  /** Send the person's device. */
  begin() {
    return this.#begin(() => openDevice(this.kind));
  }

  async #begin(open) {
    this.#toggle.disabled = true;
    let words = "";
    let media = null;
    try {
      media = await open();
      await this.#publisher.send(this.#name, media);
      this.#take(media);
    } catch (error) {
      if (media) release(media);
      words = error instanceof CallError ? refusalWords(error.code, error.detail) : captureWords(error, this.#what);
      this.#publisher.log.notice(`${humanName(this.#name)}: ${words}`, "error");
    }
    this.#toggle.disabled = false;
    this.#show(words);
  }

  #take(media) {
    if (this.media) this.#drop();
    this.media = media;
    media.addEventListener("ended", () => void this.end());
    if (this.kind === "video") this.#publisher.stage.showSelf(this.#name, media);
    this.#publisher.log.notice(`The model gets your ${this.#what}${this.#aside ? `: ${this.#aside}` : ""}`);
  }

  #drop() {
    release(this.media);
    this.media = null;
    this.#publisher.stage.showSelf(this.#name, null);
  }

  async end() {
    if (!this.media) return;
    this.#drop();
    this.#show("");
    await this.#publisher.withdraw(this.#name);
  }

  /** After a reconnect: send the same media again. */
  async resume() {
    if (!this.media) return;
    try {
      await this.#publisher.send(this.#name, this.media);
    } catch (error) {
      this.#drop();
      this.#show(error instanceof CallError ? refusalWords(error.code, error.detail) : error.message);
    }
  }

  #show(words) {
    const isOn = this.media !== null;
    const label = isOn ? `Stop sending to ${this.#name}` : `Send my ${this.#what} to ${this.#name}`;
    const aside = this.#aside ? h("small", {}, this.#aside) : null;
    const text = isOn ? `Sending ${this.#what}` : `Send ${this.#what}`;
    this.#toggle.replaceChildren(icon(this.#what), h("span", {}, text), ...(aside ? [aside] : []));
    this.#toggle.setAttribute("aria-label", label);
    this.#toggle.setAttribute("aria-pressed", String(isOn));
    this.#problem.hidden = !words;
    this.#problem.textContent = words;
  }
}

export class Publisher {
  #root;
  #peer = null;
  #inputs = new Map();

  constructor(root, stage, log) {
    this.#root = root;
    this.stage = stage;
    this.log = log;
  }

  /** The model's input tracks, `{name, kind}` each. */
  setTracks(tracks) {
    const known = [...this.#inputs.keys()].join() === tracks.map(({ name }) => name).join();
    if (known) return;
    for (const input of this.#inputs.values()) void input.end();
    this.#inputs = new Map(tracks.map((track) => [track.name, new Input(track, this)]));
    const elements = [...this.#inputs.values()].map(({ element }) => element);
    this.#root.replaceChildren(...elements);
    this.#root.closest("section").hidden = tracks.length === 0;
  }

  /** The first video input that nothing is sent to; undefined when there is none. */
  get idleVideo() {
    return [...this.#inputs.values()].find(({ kind, media }) => kind === "video" && !media);
  }

  joined(peer) {
    this.#peer = peer;
    for (const input of this.#inputs.values()) void input.resume();
  }

  async send(name, media) {
    if (!this.#peer || this.#peer.isLost) throw new CallError("not_connected");
    await this.#peer.publish(name, media);
  }

  async withdraw(name) {
    if (this.#peer && !this.#peer.isLost) await this.#peer.unpublish(name);
  }
}
