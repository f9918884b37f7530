// The server over HTTP: every route the page calls, and the one error they all raise.

import { nameOf, typeOf } from "./file_facts.js";

const TIMEOUT_MS = 10_000;

/** A route refused or the server did not answer (`status` 0). */
export class ServerError extends Error {
  constructor(status, detail, retryAfterMs = null) {
    super(detail);
    this.status = status;
    this.detail = detail;
    this.retryAfterMs = retryAfterMs;
  }
}

function detailOf(body, status) {
  if (typeof body?.detail === "string") return body.detail;
  if (Array.isArray(body?.detail)) return body.detail.map((item) => item.msg ?? "").join("; ");
  return `status ${status}`;
}

function parsed(text) {
  try {
    return text ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

async function bodyOf(response) {
  return parsed(await response.text());
}

export class Server {
  #base;
  #token;

  /** `base` is the page's own folder; `token` is kept here, in memory, and nowhere else. */
  constructor(base, token = "") {
    this.#base = base;
    this.#token = token;
  }

  get hasToken() {
    return this.#token !== "";
  }

  set token(token) {
    this.#token = token;
  }

  #headers(extra = {}) {
    return this.#token ? { ...extra, Authorization: `Bearer ${this.#token}` } : extra;
  }

  async #fetch(path, options = {}, timeoutMs = TIMEOUT_MS) {
    const signal = options.signal ?? AbortSignal.timeout(timeoutMs);
    try {
      return await fetch(new URL(path, this.#base), {
        cache: "no-store",
        ...options,
        headers: this.#headers(options.headers),
        signal,
      });
    } catch (error) {
      const late = error.name === "TimeoutError";
      throw new ServerError(0, late ? "the server did not answer in time" : "the server cannot be reached");
    }
  }

  async #json(method, path, body) {
    const options = { method };
    if (body !== undefined) {
      options.body = JSON.stringify(body);
      options.headers = { "Content-Type": "application/json" };
    }
    const response = await this.#fetch(path, options);
    const answer = await bodyOf(response);
    if (!response.ok) {
      const seconds = Number(response.headers.get("Retry-After") ?? "x");
      const retry = Number.isFinite(seconds) ? seconds * 1000 : null;
      throw new ServerError(response.status, detailOf(answer, response.status), retry);
    }
    return { status: response.status, answer };
  }

  async session() {
    return (await this.#json("GET", "session")).answer;
  }

  async start() {
    return (await this.#json("POST", "start_session", {})).answer;
  }

  async stop() {
    await this.#json("POST", "stop_session", {});
  }

  async schema() {
    return (await this.#json("GET", "schema")).answer ?? {};
  }

  async metrics() {
    const response = await this.#fetch("metrics");
    if (!response.ok) throw new ServerError(response.status, "no metrics");
    return response.text();
  }

  /** The events after number `since`, as a response whose body is read until `signal` aborts. */
  async events(since, signal) {
    const response = await this.#fetch(`events?since=${since}`, { signal });
    if (!response.ok) throw new ServerError(response.status, "no events");
    return response;
  }

  /** Where a clip `{recordingId, start, end}` lies: its playlist, or its `part` "/file" or "/metadata". */
  clipUrl(part, { recordingId, start, end }) {
    const asked = new URLSearchParams({ session_id: recordingId, start, end });
    return String(new URL(`clips${part}?${asked}`, this.#base));
  }

  /** Milliseconds after which to ask again whether a clip is complete; 0 when it is. */
  async clipWait(clip) {
    const response = await this.#fetch(this.clipUrl("", clip));
    if (response.status === 202) return 200 + 1000 * Number(response.headers.get("Retry-After") ?? 1);
    if (!response.ok) throw new ServerError(response.status, detailOf(await bodyOf(response), response.status));
    return 0;
  }

  async clipMetadata(clip) {
    return (await this.#json("GET", this.clipUrl("/metadata", clip))).answer;
  }

  async iceServers(sessionId) {
    const { answer } = await this.#json("GET", `${transport(sessionId)}/ice_servers`);
    return (answer?.ice_servers ?? []).map(({ uris, credentials }) => ({
      urls: uris,
      username: credentials?.username,
      credential: credentials?.password,
    }));
  }

  async register(sessionId) {
    return (await this.#json("POST", `${transport(sessionId)}/connections`, {})).answer.connection_id;
  }

  /** Post an offer; `replace` puts a new peer in the place of this connection's old one. */
  async offer(sessionId, connectionId, offer, replace) {
    await this.#json(replace ? "PUT" : "POST", `${connection(sessionId, connectionId)}/sdp_params`, offer);
  }

  /** The answer to the last offer, or null while it is not there yet. */
  async answer(sessionId, connectionId) {
    const path = `${connection(sessionId, connectionId)}/sdp_params`;
    const { status, answer } = await this.#json("GET", path);
    return status === 200 ? (answer?.sdp_answer ?? null) : null;
  }

  async candidates(sessionId, connectionId, candidates, isFinal) {
    const body = { candidates, is_final: isFinal };
    await this.#json("POST", `${connection(sessionId, connectionId)}/ice_candidates`, body);
  }

  async reserveUpload(sessionId, file) {
    const body = { name: nameOf(file), size: file.size, mime_type: typeOf(file) };
    return (await this.#json("POST", `sessions/${encodeURIComponent(sessionId)}/uploads`, body)).answer;
  }

  /** Send a reserved file to its path; `onProgress` hears how much of it has gone, from 0 to 1. */
  putUpload(path, file, onProgress, signal) {
    const request = new XMLHttpRequest(); // fetch() does not tell how far it is
    return new Promise((resolve, reject) => {
      request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded / total));
      request.addEventListener("load", () => {
        if (request.status < 300) resolve();
        else reject(new ServerError(request.status, detailOf(parsed(request.responseText), request.status)));
      });
      request.addEventListener("error", () => reject(new ServerError(0, "the connection broke off")));
      signal.addEventListener("abort", () => {
        request.abort();
        reject(signal.reason);
      });
      request.open("PUT", new URL(path, this.#base));
      request.setRequestHeader("Content-Type", typeOf(file));
      request.send(file);
    });
  }
}

function transport(sessionId) {
  return `sessions/${encodeURIComponent(sessionId)}/transport/webrtc`;
}

function connection(sessionId, connectionId) {
  return `${transport(sessionId)}/connections/${connectionId}`;
}
