// Recordings: the last seconds, or from one press of a button to the next, as files to download.

import { h } from "./element.js";
import { pause } from "./rate.js";
import { refusalWords } from "./words.js";

const FIRST_S = 10;
const MOST_S = 3600;
const MOMENT_S = 0.001; // a clip this short is asked for to learn where the recording stands
const ASK_AGAIN_MS = 300;
const NOTHING_YET = "no media generated yet"; // the protocol's words
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
  #begun = null; // while "record" is pressed: {recordingId, start, at}; the id is null before anything is recorded
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
    if (this.#begun) this.#finish(null);
  }

  async #saveLast() {
    const wanted = Math.min(Math.max(Number(this.#seconds.value) || FIRST_S, 1), MOST_S);
    this.#seconds.value = wanted;
    const clip = await this.#ask(wanted);
    if (clip) void this.#offer(`Last ${wanted} s`, clip);
    else if (clip === null) this.#say("Nothing has been recorded yet: there was no picture so far");
  }

  async #toggle() {
    this.#record.disabled = true;
    const clip = await this.#ask(MOMENT_S);
    this.#record.disabled = false;
    if (this.#begun) this.#finish(clip);
    else if (clip !== undefined) this.#begin(clip);
  }

  /** Record from where the recording stands; before there is anything, from its beginning. */
  #begin(clip) {
    const begun = { recordingId: clip?.recordingId ?? null, start: clip?.end ?? 0, at: performance.now() };
    this.#begun = begun;
    this.#timer = setInterval(() => this.#showRecord(), 500);
    this.#showRecord();
    if (!clip) void this.#awaitBeginning(begun);
  }

  async #awaitBeginning(begun) {
    while (this.#begun === begun && !begun.recordingId) {
      await pause(ASK_AGAIN_MS);
      const clip = this.#begun === begun ? await this.#ask(MOMENT_S) : null;
      if (clip) Object.assign(begun, { recordingId: clip.recordingId, at: performance.now() - 1000 * clip.end });
    }
  }

  /** Keep what was recorded up to the end of `clip`; without one, up to the recording's own. */
  #finish(clip) {
    const { start, at } = this.#begun;
    const recordingId = this.#begun.recordingId ?? clip?.recordingId;
    this.#begun = null;
    clearInterval(this.#timer);
    this.#showRecord();
    if (!recordingId) return this.#say("Nothing was recorded: there was no picture");
    const end = clip?.recordingId === recordingId ? clip.end : TO_ITS_END_S;
    const title = `Recording of ${clockWords((performance.now() - at) / 1000)}`;
    return void this.#offer(title, { recordingId, start, end: Math.max(end, start + MOMENT_S) });
  }

  #showRecord() {
    const seconds = this.#begun?.recordingId ? (performance.now() - this.#begun.at) / 1000 : 0;
    this.#record.textContent = this.#begun ? `Stop recording · ${clockWords(seconds)}` : "Record";
    this.#record.setAttribute("aria-pressed", String(this.#begun !== null));
  }

  #say(words) {
    this.#problem.textContent = words;
    this.#problem.hidden = !words;
  }

  /**
   * The clip of the last seconds as `{recordingId, start, end}`; null while nothing has been recorded,
   * undefined when there can be none: the page says why.
   */
  async #ask(seconds) {
    this.#say("");
    try {
      const answer = await this.#connection.clip(seconds);
      return { recordingId: answer.session_id, start: answer.start_marker, end: answer.end_marker };
    } catch (error) {
      if (error.detail === NOTHING_YET) return null;
      this.#say(refusalWords(error.code, error.detail));
      return undefined;
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
