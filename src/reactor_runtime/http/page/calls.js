// Requests that wait for their answer on a data channel.

export const REPLY_TIMEOUT_MS = 10_000;

/** A refusal or failure of one request: `code` is the server's token, `message` its words. */
export class CallError extends Error {
  constructor(code, message = "") {
    super(message || code);
    this.code = code;
    this.detail = message;
  }
}

export class Calls {
  #prefix;
  #count = 0;
  #waiting = new Map();

  /** `prefix` keeps the ids of the two channels apart in logs. */
  constructor(prefix) {
    this.#prefix = prefix;
  }

  /**
   * Send with `send(requestId)` and resolve with the response, a decoded frame.
   * Rejects with CallError: the server's, "no_reply" after ten seconds, or what send raised.
   */
  request(send) {
    this.#count += 1;
    const id = `${this.#prefix}_${this.#count}`;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new CallError("no_reply"));
      }, REPLY_TIMEOUT_MS);
      this.#waiting.set(id, { resolve, reject, timer });
      try {
        send(id);
      } catch (error) {
        this.#take(id);
        reject(error);
      }
    });
  }

  #take(id) {
    const call = this.#waiting.get(id);
    if (call) clearTimeout(call.timer);
    this.#waiting.delete(id);
    return call;
  }

  /** Give a response to whoever waits for it; false when nobody does. */
  settle(frame) {
    const call = this.#take(frame.requestId);
    if (!call) return false;
    if (frame.type === "error") call.reject(new CallError(frame.body.code, frame.body.message));
    else call.resolve(frame);
    return true;
  }

  /** Nothing more will arrive: reject all that still waits. */
  failAll(code) {
    for (const id of [...this.#waiting.keys()]) this.#take(id).reject(new CallError(code));
  }
}
