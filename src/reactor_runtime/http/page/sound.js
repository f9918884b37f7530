// Sound on demand: nothing is asked of the server, and nothing is heard, until somebody wants it.

import { h, icon } from "./element.js";

export class Sound {
  #button;
  #volume;
  #tracks = new Map();
  #notify = () => {};
  isOn = false;

  constructor(button, volume) {
    this.#button = button;
    this.#volume = volume;
    button.addEventListener("click", () => this.toggle());
    volume.addEventListener("input", () => {
      for (const { element } of this.#tracks.values()) element.volume = Number(volume.value);
      volume.style.setProperty("--fill", `${Number(volume.value) * 100}%`);
    });
    volume.style.setProperty("--fill", "100%");
  }

  /** The model's output audio tracks; with none there is nothing to switch on. */
  setTracks(names) {
    for (const name of names) {
      if (!this.#tracks.has(name)) this.#tracks.set(name, { element: h("audio", { "data-track": name }) });
    }
    for (const [name, { element }] of this.#tracks) {
      if (names.includes(name)) continue;
      element.srcObject = null;
      this.#tracks.delete(name);
    }
    this.#show();
  }

  attach(name, track) {
    const entry = this.#tracks.get(name);
    if (!entry) return;
    entry.element.srcObject = new MediaStream([track]);
    if (this.isOn) entry.element.play().catch(() => {});
  }

  /** A new connection is live: `notify(member, body)` reaches its server. */
  joined(notify) {
    this.#notify = notify;
    if (this.isOn) this.#tell("resume_track");
  }

  toggle() {
    if (this.#tracks.size === 0) return;
    this.isOn = !this.isOn;
    this.#tell(this.isOn ? "resume_track" : "pause_track");
    for (const { element } of this.#tracks.values()) {
      element.volume = Number(this.#volume.value);
      if (this.isOn) element.play().catch(() => {});
      else element.pause();
    }
    this.#show();
  }

  #tell(member) {
    for (const name of this.#tracks.keys()) this.#notify(member, { name });
  }

  #show() {
    const label = this.isOn ? "Mute" : "Turn on sound";
    this.#button.hidden = this.#tracks.size === 0;
    this.#button.replaceChildren(icon(this.isOn ? "sound" : "muted"), h("span", {}, this.isOn ? "" : label));
    this.#button.setAttribute("aria-label", label);
    this.#button.setAttribute("aria-pressed", String(this.isOn));
    this.#volume.hidden = !this.isOn || this.#tracks.size === 0;
  }
}
