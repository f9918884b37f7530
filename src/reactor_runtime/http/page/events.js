// Following the server's event stream: what other viewers do, how many there are, what went wrong.
//
// A browser grants one host six connections over all its tabs, so only a tab that is looked at
// holds a stream; it resumes where it left.

import { BackOff, pause } from "./rate.js";

/** Splits a server-sent event stream into `{id, payload}`; feed it text, get events back. */
export class EventParser {
  #rest = "";

  feed(text) {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.map(parse).filter(Boolean);
  }
}

function parse(block) {
  let id = null;
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) id = Number(line.slice(3));
    else if (line.startsWith("data:")) data.push(line.slice(5));
  }
  try {
    return data.length > 0 ? { id, payload: JSON.parse(data.join("\n")) } : null;
  } catch {
    return null; // an event this page cannot read is an event it does not need
  }
}

/** Event "event" with the payload of each; everything retained comes first. */
export class EventFeed extends EventTarget {
  #server;
  #since = 0;
  #reading = null;
  #isLocked = false; // the token is not right; the connection asks for it

  constructor(server) {
    super();
    this.#server = server;
  }

  /** Follow from now on, whenever the page is looked at. */
  open() {
    document.addEventListener("visibilitychange", () => this.#adjust());
    this.#adjust();
  }

  /** Another token is set. */
  unlock() {
    this.#isLocked = false;
    this.#adjust();
  }

  #adjust() {
    if (document.hidden || this.#isLocked) {
      this.#reading?.abort();
      this.#reading = null;
    } else if (!this.#reading) {
      this.#reading = new AbortController();
      void this.#follow(this.#reading.signal);
    }
  }

  async #follow(signal) {
    const backOff = new BackOff(1000, 15_000);
    while (!signal.aborted) {
      try {
        const response = await this.#server.events(this.#since, signal);
        backOff.reset();
        await this.#read(response.body.pipeThrough(new TextDecoderStream()).getReader());
      } catch (error) {
        if (error.status === 401) {
          this.#isLocked = true;
          this.#adjust();
          return;
        }
        // The connection to the session is what tells a person of trouble; this is only extra.
      }
      await pause(backOff.next(), signal);
    }
  }

  async #read(reader) {
    const parser = new EventParser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        this.#since = 0; // the server closed: the next one counts from the start
        return;
      }
      for (const { id, payload } of parser.feed(value)) {
        if (Number.isFinite(id)) this.#since = id;
        this.dispatchEvent(new CustomEvent("event", { detail: payload }));
      }
    }
  }
}
