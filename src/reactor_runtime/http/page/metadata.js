// What the model said beside what is shown and heard: one line for each track that has some.

import { h } from "./element.js";

export class Metadata {
  #root;

  constructor(root) {
    this.#root = root;
  }

  /** Follow the server's statistics (event "metric"), and forget when a session starts. */
  hear(event, detail) {
    if (event === "start_session") this.#show([]);
    if (event === "metric" && detail.name === "runtime_stats") this.#show(metadataOf(detail));
  }

  #show(told) {
    this.#root.replaceChildren(
      ...told.map(([track, text]) => h("span", { title: text }, h("b", {}, track), ` ${text}`)),
    );
    this.#root.hidden = told.length === 0;
  }
}

/** Pairs of a track's name and the JSON text of its newest metadata. Pure. */
export function metadataOf({ tracks }) {
  const told = Object.entries(tracks?.tracks ?? {}).map(([track, figures]) => [track, figures.metadata]);
  return told.filter(([, text]) => text !== undefined);
}
