// The page's life with the server: find or start the session, connect, and come back after a loss.
//
//   contacting → loading → joining → live → ended
//                             ↑        ↓
//                             └ reconnecting / unreachable

import { CallError } from "./calls.js";
import { Peer } from "./peer.js";
import { mayFollow, Phase } from "./phase.js";
import { BackOff, pause } from "./rate.js";
import { ServerError } from "./server.js";

const OCCUPIED = ["waiting", "streaming", "orphaned"];
const LOADING_POLL_MS = 700;
const GIVE_UP_AFTER = 6; // tries in a row that reach the server and still make no connection

/**
 * Events: "phase" ({phase, …facts}); per connection "found" ({descriptor}) and, once it is live,
 * "joined" ({peer, descriptor}); and what the peer tells: "track", "message", "problem", "moderated", "unsteady".
 */
export class Connection extends EventTarget {
  phase = Phase.CONTACTING;
  facts = {};
  #server;
  #peer = null;
  #run = null; // AbortController of the loop in progress
  #wake = new AbortController(); // cuts a pause short

  constructor(server) {
    super();
    this.#server = server;
  }

  get peer() {
    return this.phase === Phase.LIVE ? this.#peer : null;
  }

  /** Begin, or begin again after an end or a failure. */
  open() {
    this.close();
    this.#run = new AbortController();
    if (this.phase !== Phase.CONTACTING) this.#enter(Phase.CONTACTING);
    void this.#live(this.#run.signal);
  }

  /** Do not wait for the next try. */
  hurry() {
    this.#wake.abort();
  }

  /** Leave quietly: the session goes on. */
  close() {
    this.#run?.abort();
    this.#wake.abort();
    this.#peer?.close();
  }

  /** End the session, for everybody. */
  async stop() {
    await this.#server.stop();
  }

  /** Call a command; rejects with CallError "not_connected" when there is no connection. */
  async command(name, data = {}, uploads = {}) {
    if (!this.peer) throw new CallError("not_connected");
    return this.peer.command(name, data, uploads);
  }

  /** The clip of the last `seconds`; rejects with CallError. */
  async clip(seconds) {
    if (!this.peer) throw new CallError("not_connected");
    return this.peer.clip(seconds);
  }

  async #live(signal) {
    const backOff = new BackOff();
    const past = { connectionId: null, session: null, wasLive: false, tries: 0 };
    while (!signal.aborted) {
      try {
        const descriptor = await this.#findSession(signal, past);
        if (!descriptor || signal.aborted) return;
        await this.#join(descriptor, past, signal);
        backOff.reset();
        if (await this.#watch(signal, past)) return;
      } catch (error) {
        if (signal.aborted || (await this.#hasEnded(error, past)) || this.#isFinal(error, past)) return;
      }
      if (!signal.aborted) await this.#rest(backOff.next(), signal);
    }
  }

  async #rest(ms, signal) {
    this.#wake = new AbortController();
    await pause(ms, AbortSignal.any([signal, this.#wake.signal]));
  }

  /** Adopt the session there is, or start one; null when the page has come to an end instead. */
  async #findSession(signal, past) {
    for (;;) {
      const descriptor = await this.#server.session();
      if (signal.aborted) return null;
      const ending = endingOf(descriptor, past.session);
      if (ending) return this.#enter(Phase.ENDED, ending);
      if (descriptor.state === "terminated") return this.#enter(Phase.FAILED, { code: "terminated" });
      if (OCCUPIED.includes(descriptor.state)) {
        past.session = descriptor.session_number;
        return descriptor;
      }
      if (descriptor.state === "ready") {
        if (past.wasLive) return this.#enter(Phase.ENDED, { reason: "gone" });
        past.session = descriptor.session_number + 1; // ours, or that of a tab that is faster
        const started = await this.#start();
        if (started) return started;
      } else if (this.phase !== Phase.RECONNECTING) {
        this.#enter(Phase.LOADING, { isClosing: descriptor.state === "closing" });
      }
      await this.#rest(LOADING_POLL_MS, signal);
    }
  }

  /** Start a session; null when another tab was faster or the server is not ready: look again. */
  async #start() {
    try {
      return await this.#server.start();
    } catch (error) {
      if (error instanceof ServerError && (error.status === 409 || error.retryAfterMs !== null)) return null;
      throw error;
    }
  }

  async #join(descriptor, past, signal) {
    this.#enter(Phase.JOINING, { isAgain: past.wasLive });
    this.#tell("found", { descriptor });
    const sessionId = descriptor.session_id;
    const iceServers = await this.#server.iceServers(sessionId);
    signal.throwIfAborted(); // the page was closed or opened anew meanwhile: nobody would end this peer
    const tracks = descriptor.capabilities?.tracks ?? [];
    const peer = new Peer(this.#server, sessionId, tracks, iceServers);
    this.#peer = peer;
    for (const type of ["track", "message", "problem", "moderated", "unsteady"]) {
      peer.addEventListener(type, ({ detail }) => this.#tell(type, detail));
    }
    try {
      await peer.connect(past.connectionId);
    } catch (error) {
      past.connectionId = null; // the next try registers anew: this one may be unknown by now
      const { ending } = peer;
      peer.close();
      if (!ending?.ended) throw error;
    }
    past.connectionId = peer.connectionId;
    past.wasLive = true;
    past.tries = 0;
    if (peer.isLost) return;
    this.#enter(Phase.LIVE);
    this.#tell("joined", { peer, descriptor });
  }

  /** Wait for the loss of the peer; true when that was the end of the session. */
  async #watch(signal, past) {
    const peer = this.#peer;
    if (!peer.isLost) await new Promise((resolve) => peer.addEventListener("lost", resolve, { once: true }));
    const { ended, reason, detail } = peer.ending;
    if (signal.aborted) return true;
    if (ended && !isServerGoing(reason)) {
      this.#enter(Phase.ENDED, { reason, detail });
      return true;
    }
    if (ended) {
      past.wasLive = false; // the server goes away; a session after that is a new one
      past.session = null;
    }
    this.#enter(Phase.RECONNECTING, { reason });
    return false;
  }

  /**
   * Whether the session this page was about to join has ended meanwhile: then its end is told, and
   * another one is for a person to start.
   */
  async #hasEnded(error, past) {
    if (error instanceof ServerError && [0, 401, 403].includes(error.status)) return false;
    const descriptor = await this.#server.session().catch(() => null);
    const ending = descriptor && endingOf(descriptor, past.session);
    if (ending) this.#enter(Phase.ENDED, ending);
    return Boolean(ending);
  }

  /** Enter the phase an error calls for; true when only a person can go on from there. */
  #isFinal(error, past) {
    const status = error instanceof ServerError ? error.status : null;
    if (status === 0) {
      past.wasLive = false; // a server that comes back has lost its session
      past.session = past.connectionId = null;
      this.#enter(Phase.UNREACHABLE);
      return false;
    }
    if (status === 401) {
      this.#enter(Phase.LOCKED, { isWrong: this.#server.hasToken });
      return true;
    }
    past.tries += 1;
    if (isHopeless(error) || past.tries >= GIVE_UP_AFTER) {
      this.#enter(Phase.FAILED, { code: error.code ?? "refused", status, detail: error.detail ?? error.message });
      return true;
    }
    this.#enter(Phase.RECONNECTING, { code: error.code, detail: error.detail ?? error.message });
    return false;
  }

  #enter(phase, facts = {}) {
    if (!mayFollow(this.phase, phase)) throw new Error(`${phase} cannot follow ${this.phase}`);
    this.phase = phase;
    this.facts = facts;
    this.#tell("phase", { phase, ...facts });
    return null;
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** How session number `session` ended, null while it goes on or where the server's departure ended it. */
function endingOf({ ending }, session) {
  if (session === null || !ending || ending.session_number < session || isServerGoing(ending.reason)) return null;
  return { reason: ending.reason, detail: ending.detail };
}

/** Refusals that the next try would meet again: not let in, not understood, nowhere to connect. */
function isHopeless({ status, retryAfterMs, detail }) {
  if (status === 503) return retryAfterMs === null && !isServerGoing(detail);
  return status === 403 || status === 422;
}

/** Endings that are the server's own departure: wait for its return instead of asking a person. */
function isServerGoing(reason) {
  return reason === "evicted" || /shutting down|restarting/.test(reason);
}
