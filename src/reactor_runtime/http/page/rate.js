// Time: how often to send, and how long to wait before the next try.

/** Thirty times a second is as fast as a moving slider is worth sending. */
export const SLIDER_INTERVAL_MS = 1000 / 30;

/**
 * Passes values on at a bounded rate; of those that arrive in between only the newest is kept.
 * The first goes at once and the last is never lost.
 */
export class NewestWins {
  #send;
  #intervalMs;
  #timer = null;
  #waiting = [];

  constructor(send, intervalMs = SLIDER_INTERVAL_MS) {
    this.#send = send;
    this.#intervalMs = intervalMs;
  }

  push(value) {
    if (this.#timer !== null) {
      this.#waiting = [value];
      return;
    }
    this.#timer = setTimeout(() => this.#tick(), this.#intervalMs);
    this.#send(value);
  }

  #tick() {
    this.#timer = null;
    if (this.#waiting.length > 0) this.push(this.#waiting.pop());
  }
}

/** Growing pauses between tries: doubled each time up to a ceiling, from the start after reset(). */
export class BackOff {
  #firstMs;
  #longestMs;
  #nextMs;

  constructor(firstMs = 300, longestMs = 5000) {
    this.#firstMs = firstMs;
    this.#longestMs = longestMs;
    this.#nextMs = firstMs;
  }

  /** The pause before the next try, in milliseconds. */
  next() {
    const pause = this.#nextMs;
    this.#nextMs = Math.min(this.#longestMs, pause * 2);
    return pause;
  }

  reset() {
    this.#nextMs = this.#firstMs;
  }
}

/** Resolves after `ms`, or at once when `signal` aborts (it never rejects). */
export function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    }
    signal?.addEventListener("abort", done);
  });
}
