// Dispatch: the one way a command leaves the page, whatever set it off, and the note it leaves.

import { CallError } from "./calls.js";
import { ServerError } from "./server.js";
import { resolveFiles } from "./uploads.js";
import { fileWords, refusalWords } from "./words.js";

export class Dispatch extends EventTarget {
  #connection;
  #log;

  constructor(connection, uploads, log) {
    super();
    this.#connection = connection;
    this.uploads = uploads;
    this.#log = log;
  }

  /**
   * Call `command` (of the schema) with `values`. Resolves with the refusal in plain words, or ""
   * when it was accepted; never rejects. Event "sent" ({command, values}) goes out first.
   */
  async call(command, values = {}) {
    this.dispatchEvent(new CustomEvent("sent", { detail: { command, values } }));
    const note = this.#log.sent(command, values);
    try {
      const reply = await this.#send(command, values);
      this.#log.accepted(note, reply);
      return "";
    } catch (error) {
      const words = wordsOf(error);
      this.#log.refused(note, words);
      return words;
    }
  }

  async #send(command, values) {
    const { data, uploads } = await resolveFiles(values, (file) => this.uploads.send(file));
    const { peer } = this.#connection;
    if (!peer) throw new CallError("not_connected");
    return peer.command(command.name, data, uploads);
  }
}

function wordsOf(error) {
  if (error instanceof CallError) return refusalWords(error.code, error.detail);
  if (error instanceof ServerError) return fileWords(error);
  return error.message;
}
