// Files on their way to the server. Each is sent once while a connection lasts, however many
// commands refer to it.

import { CallError } from "./calls.js";
import { nameOf, typeOf } from "./file_facts.js";

const AT_ONCE = 3; // a browser has few requests for one server, and others want some too

/** One file that is being sent, or has been; `sent` is a promise of its reference. */
class Sending {
  #share = 0;
  #watchers = new Set();
  #abort = new AbortController();

  constructor(start) {
    this.sent = start((share) => this.#tell(share), this.#abort.signal);
  }

  watch(watcher) {
    this.#watchers.add(watcher);
    watcher(this.#share);
  }

  abort() {
    this.#abort.abort();
  }

  #tell(share) {
    this.#share = share;
    for (const watcher of this.#watchers) watcher(share);
  }
}

export class Uploads {
  #connection;
  #server;
  #sendings = new WeakMap(); // connections to their files
  #open = 0;
  #waiting = [];

  constructor(connection, server) {
    this.#connection = connection;
    this.#server = server;
  }

  /**
   * Send `file`, unless that is done: resolves with its reference `{upload_id, name, mime_type,
   * size}`. `onProgress` hears how much of it has gone, from 0 to 1. A file that failed may be sent
   * again.
   */
  send(file, onProgress = () => {}) {
    const { peer } = this.#connection;
    if (!peer) return Promise.reject(new CallError("not_connected"));
    if (!this.#sendings.has(peer)) this.#sendings.set(peer, new Map());
    const files = this.#sendings.get(peer);
    if (!files.has(file)) {
      const sending = new Sending((...how) => this.#inTurn(() => this.#send(file, peer, ...how)));
      files.set(file, sending);
      sending.sent.catch(() => files.delete(file));
    }
    const sending = files.get(file);
    sending.watch(onProgress);
    return sending.sent;
  }

  /** Do not go on sending `file`; one that has been sent stays sent. */
  cancel(file) {
    const { peer } = this.#connection;
    this.#sendings.get(peer)?.get(file)?.abort();
  }

  async #send(file, peer, tell, signal) {
    signal.throwIfAborted();
    const slot = await this.#server.reserveUpload(peer.sessionId, file);
    await this.#server.putUpload(slot.path, file, tell, signal);
    tell(1);
    const reference = { upload_id: slot.presigned_id, name: nameOf(file), mime_type: typeOf(file), size: file.size };
    peer.notify("file_uploaded", { upload: reference });
    return reference;
  }

  async #inTurn(work) {
    if (this.#open >= AT_ONCE) await new Promise((resolve) => this.#waiting.push(resolve));
    this.#open += 1;
    try {
      return await work();
    } finally {
      this.#open -= 1;
      this.#waiting.shift()?.();
    }
  }
}

/** Split `values` into what a command carries, `{data, uploads}`, with every File sent by `send`. */
export async function resolveFiles(values, send) {
  const data = {};
  const uploads = {};
  for (const [name, value] of Object.entries(values)) {
    if (value instanceof File) uploads[name] = await send(value);
    else if (Array.isArray(value) && value[0] instanceof File) {
      data[name] = await Promise.all(value.map((file) => send(file)));
    } else data[name] = value;
  }
  return { data, uploads };
}
