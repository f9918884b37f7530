// The strip of live figures: the browser's own once a second, the server's every two.

import { h } from "./element.js";
import { between, meanBetween, ranksBetween, readMetrics, readReport } from "./figures.js";
import { Plot } from "./plot.js";

const fixed = (digits) => (value) => value.toFixed(digits);
const fine = (value) => value.toFixed(value < 10 ? 1 : 0);

const TILES = [
  { key: "fps", label: "Frames", unit: "fps", words: fixed(0), floor: 10 },
  { key: "mbps", label: "Bitrate", unit: "Mbit/s", words: (value) => value.toFixed(value < 10 ? 2 : 1), floor: 0.2 },
  { key: "roundTripMs", label: "Round trip", unit: "ms", words: fine, floor: 10 },
  { key: "jitterMs", label: "Jitter", unit: "ms", words: fine, floor: 10 },
  { key: "dropped", label: "Dropped", unit: "", words: fixed(0), floor: 5 },
  { key: "queue", label: "Queue", unit: "", words: fixed(0), floor: 4 },
  { key: "turnMs", label: "Turn", unit: "ms", words: fine, floor: 20 },
  { key: "slowestMs", label: "Slowest rank", unit: "ms", words: fine, floor: 20, isForRanks: true },
];

const SERVER_NAMES = { queue: "reactor_queue_frames", turn: "reactor_step_seconds", clients: "reactor_clients" };

// Where the rest of a turn on several ranks goes, in order.
const RANK_PARTS = ["broadcast", "collect", "copy", "room"];

/** Event "facts": what is shown, in a few words: size, codec, viewers. */
export class Stats extends EventTarget {
  #server;
  #tiles = new Map();
  #picture = [];
  #viewers = 0;
  #peer = null;
  #before = null;
  #serverBefore = null;

  constructor(root, server) {
    super();
    this.#server = server;
    for (const tile of TILES) root.append(this.#makeTile(tile));
    setInterval(() => void this.#sample(), 1000);
    setInterval(() => void this.#sampleServer(), 2000);
  }

  #makeTile(tile) {
    const value = h("span", { class: "stat-value" }, "–");
    const canvas = h("canvas", { class: "plot", "aria-hidden": "true" });
    const element = h(
      "div",
      { class: "stat", "data-stat": tile.key, hidden: tile.isForRanks },
      h("span", { class: "stat-label" }, tile.label),
      h("span", { class: "stat-line" }, value, tile.unit ? h("span", { class: "stat-unit" }, tile.unit) : null),
      canvas,
    );
    this.#tiles.set(tile.key, { ...tile, value, element, plot: new Plot(canvas, tile.floor) });
    return element;
  }

  /** Count on this connection from now on; null when there is none. */
  follow(peer) {
    this.#peer = peer;
    this.#before = null;
    this.#serverBefore = null;
    if (peer) return;
    for (const { value } of this.#tiles.values()) value.textContent = "–";
    this.#picture = [];
    this.#viewers = 0;
    this.#tellFacts();
  }

  #show(key, value) {
    const tile = this.#tiles.get(key);
    tile.value.textContent = value === null ? "–" : tile.words(value);
    tile.plot.push(value);
  }

  async #sample() {
    const peer = this.#peer;
    if (!peer || peer.isLost) return;
    const after = readReport(await peer.stats());
    if (peer !== this.#peer) return; // gone meanwhile
    const figures = this.#before && between(this.#before, after);
    this.#before = after;
    if (!figures) return;
    for (const key of ["fps", "mbps", "roundTripMs", "jitterMs", "dropped"]) this.#show(key, figures[key]);
    this.#picture = [figures.size, figures.codec];
    this.#tellFacts();
  }

  async #sampleServer() {
    const peer = this.#peer;
    if (!peer || peer.isLost || document.hidden) return;
    let after;
    try {
      after = readMetrics(await this.#server.metrics());
    } catch {
      return; // the connection tells of a server that is gone; these figures are only extra
    }
    if (peer !== this.#peer) return;
    this.#viewers = after.get(SERVER_NAMES.clients)?.sum ?? 0;
    this.#tellFacts();
    const queues = after.get(SERVER_NAMES.queue)?.samples ?? []; // one for each track
    if (queues.length > 0) this.#show("queue", Math.max(...queues.map(({ value }) => value)));
    if (this.#serverBefore) {
      const turnS = meanBetween(this.#serverBefore, after, SERVER_NAMES.turn);
      if (turnS !== null) this.#show("turnMs", turnS * 1000);
      this.#showRanks(this.#serverBefore, after);
    }
    this.#serverBefore = after;
  }

  #showRanks(before, after) {
    const ranks = ranksBetween(before, after, "reactor_rank_compute_seconds");
    if (ranks.length === 0) return;
    this.#tiles.get("slowestMs").element.hidden = false;
    this.#show("slowestMs", ranks[0].mean * 1000);
    const words = ranks.map(({ rank, mean }) => `rank ${rank}: ${fine(mean * 1000)} ms`);
    for (const part of RANK_PARTS) {
      const mean = meanBetween(before, after, `reactor_rank_${part}_seconds`);
      if (mean !== null) words.push(`${part}: ${fine(mean * 1000)} ms`);
    }
    this.#tiles.get("slowestMs").element.title = words.join("\n");
  }

  #tellFacts() {
    const viewers = this.#viewers > 1 ? `${this.#viewers} viewers` : "";
    const detail = [...this.#picture, viewers].filter(Boolean).join(" · ");
    this.dispatchEvent(new CustomEvent("facts", { detail }));
  }
}
