// Recordings: the last seconds, or from one press of a button to the next, as files to download.

import { h } from "./element.js";
import { pause } from "./rate.js";
import { refusalWords } from "./words.js";

const FIRST_S = 10;
const MOST_S = 3600;
const MOMENT_S = 0.001; // a clip this short is asked for to learn where the recording stands
const TO_ITS_END_S = 1e9;
const MAX_ROWS = 8;

/** 75 → "1:15". */
export function clockWords(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export class Recording {
  #root;
  #connection;
  #server;
  #seconds = h("input", { type: "number", min: 1, max: MOST_S, step: 1, value: FIRST_S, "aria-label": "Seconds" });
  #save = h("button", { type: "button", class: "save-last", onclick: () => void this.#saveLast() }, "Save the last");
  #record = h("button", { type: "button", class: "record", "aria-pressed": "false", onclick: () => void this.#toggle() });
  #problem = h("p", { class: "problem", role: "alert", hidden: true });
  #list = h("ul", { class: "clips" });
  #begun = null; // while "record" is pressed: {recordingId, start, at}
  #timer = null;

  /** `connection` has the live peer; `root` stays hidden where nothing is recorded. */
  constructor(root, connection, server) {
    this.#root = root;
    this.#connection = connection;
    this.#server = server;
    const last = h("div", { class: "clip-line" }, this.#save, this.#seconds, h("span", {}, "seconds"));
    root.append(last, this.#record, this.#problem, this.#list);
    this.#seconds.addEventListener("keydown", (event) => event.key === "Enter" && void this.#saveLast());
    this.#showRecord();
  }

  /** A session was found: it is recorded or not. */
  show(descriptor) {
    this.#root.hidden = !descriptor.recording?.enabled;
  }

  /** The session is over: what was being recorded is kept up to its end. */
  ended() {
    if (this.#begun) this.#finish(TO_ITS_END_S);
  }

  async #saveLast() {
    const wanted = Math.min(Math.max(Number(this.#seconds.value) || FIRST_S, 1), MOST_S);
    this.#seconds.value = wanted;
    const clip = await this.#ask(wanted);
    if (clip) void this.#offer(`Last ${wanted} s`, clip);
  }

  async #toggle() {
    this.#record.disabled = true;
    const clip = await this.#ask(MOMENT_S);
    this.#record.disabled = false;
    if (this.#begun) {
      this.#finish(clip?.recordingId === this.#begun.recordingId ? clip.end : TO_ITS_END_S);
    } else if (clip) {
      this.#begun = { recordingId: clip.recordingId, start: clip.end, at: performance.now() };
      this.#timer = setInterval(() => this.#showRecord(), 500);
      this.#showRecord();
    }
  }

  #finish(end) {
    const { recordingId, start, at } = this.#begun;
    const words = clockWords((performance.now() - at) / 1000);
    this.#begun = null;
    clearInterval(this.#timer);
    this.#showRecord();
    void this.#offer(`Recording of ${words}`, { recordingId, start, end: Math.max(end, start + MOMENT_S) });
  }

  #showRecord() {
    const seconds = this.#begun ? (performance.now() - this.#begun.at) / 1000 : 0;
    this.#record.textContent = this.#begun ? `Stop recording · ${clockWords(seconds)}` : "Record";
    this.#record.setAttribute("aria-pressed", String(this.#begun !== null));
  }

  /** The clip of the last seconds as `{recordingId, start, end}`, null when there can be none. */
  async #ask(seconds) {
    this.#problem.hidden = true;
    try {
      const answer = await this.#connection.clip(seconds);
      return { recordingId: answer.session_id, start: answer.start_marker, end: answer.end_marker };
    } catch (error) {
      this.#problem.textContent = refusalWords(error.code, error.detail);
      this.#problem.hidden = false;
      return null;
    }
  }

  /** Show a clip: that it is being finished, then where to get it. */
  async #offer(title, clip) {
    const state = h("span", { class: "clip-state" }, "Finishing…");
    const row = h("li", { class: "clip" }, h("span", { class: "clip-title" }, title), state);
    this.#list.prepend(row);
    while (this.#list.children.length > MAX_ROWS) this.#list.lastElementChild.remove();
    try {
      for (;;) {
        const waitMs = await this.#server.clipWait(clip);
        if (waitMs === 0) break;
        await pause(waitMs);
      }
      state.replaceChildren(h("a", { href: this.#server.clipUrl("/file", clip), download: "clip.mp4" }, "Download"));
      await this.#offerMetadata(state, clip);
    } catch (error) {
      state.textContent = error.detail ?? error.message;
      row.classList.add("is-failed");
    }
  }

  async #offerMetadata(state, clip) {
    const url = this.#server.clipUrl("/metadata", clip);
    const { entries } = await this.#server.clipMetadata(clip);
    if (entries.length > 0) state.append(h("a", { href: url, download: "clip.json", title: `${entries.length} entries` }, "Metadata"));
  }
}
