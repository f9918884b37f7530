// The activity feed: what was sent, what came back, what the model says to everybody.

import { h } from "./element.js";
import { sizeWords } from "./file_facts.js";
import { humanName } from "./schema.js";

const MAX_ENTRIES = 200;
const MERGE_WITHIN_MS = 4000;
const SPOKEN = ["text", "message", "detail", "reason", "error", "answer"]; // fields that need no label

/** A value in a sentence: short, and never a wall of JSON. */
export function valueWords(value, limit = 120) {
  if (value === null || value === undefined) return "none";
  if (typeof value === "string") return value.length > limit ? `${value.slice(0, limit)}…` : value;
  if (typeof value === "number") return String(Number(value.toPrecision(6)));
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof File !== "undefined" && value instanceof File) return `${value.name} (${sizeWords(value.size)})`;
  const text = JSON.stringify(value);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** Pairs as rows; nothing where there are none. */
function bodyRows(entries) {
  if (entries.length === 0) return null;
  if (entries.length === 1 && SPOKEN.includes(entries[0][0])) return h("p", { class: "said" }, valueWords(entries[0][1], 600));
  const rows = entries.map(([key, value]) => [h("dt", {}, humanName(key)), h("dd", {}, valueWords(value, 300))]);
  return h("dl", {}, rows.flat());
}

export class Log {
  #list;
  #newest = null;
  #fieldOrder = new Map();

  constructor(list) {
    this.#list = list;
  }

  /** Show the fields of messages in this order: `{message: [field, …]}` as a Map. */
  knowMessages(fieldOrder) {
    this.#fieldOrder = fieldOrder;
  }

  /** What a message of the model says. */
  #rows({ name, body }) {
    const order = this.#fieldOrder.get(name) ?? [];
    const known = order.filter((key) => Object.hasOwn(body, key)).map((key) => [key, body[key]]);
    const others = Object.entries(body).filter(([key]) => !order.includes(key));
    return bodyRows([...known, ...others]);
  }

  #add(tone, title, body = null) {
    const now = new Date();
    const time = h("time", { datetime: now.toISOString() }, now.toTimeString().slice(0, 8));
    const state = h("span", { class: "outcome" });
    const heading = h("span", { class: "title" }, title);
    const element = h("li", { class: `entry ${tone}` }, h("div", { class: "line" }, heading, state, time), body);
    this.#list.prepend(element);
    while (this.#list.children.length > MAX_ENTRIES) this.#list.lastElementChild.remove();
    this.#newest = { element, heading, state, time, at: performance.now(), key: "", count: 1 };
    return this.#newest;
  }

  /** A command leaves. One that follows itself closely (a slider) shares one line. */
  sent(command, values) {
    const title = sentWords(command, values);
    const last = this.#newest;
    if (last && last.key === command.name && performance.now() - last.at < MERGE_WITHIN_MS) {
      last.heading.textContent = title;
      last.at = performance.now();
      last.count += 1;
      last.element.classList.remove("is-refused");
      last.element.querySelector(".said")?.remove();
      return last;
    }
    const note = this.#add("sent", title);
    note.key = command.name;
    return note;
  }

  accepted(note, reply) {
    note.state.textContent = note.count > 1 ? `✓ ${note.count}×` : "✓";
    note.state.title = "The model took it";
    if (reply) this.#add("reply", humanName(reply.name), this.#rows(reply));
  }

  refused(note, words) {
    note.state.textContent = "✕";
    note.state.title = "Refused";
    note.element.classList.add("is-refused");
    note.element.querySelector(".said")?.remove();
    note.element.append(h("p", { class: "said" }, words));
    note.key = ""; // what comes next begins a line of its own: this one is worth reading
  }

  broadcast(message) {
    this.#add("broadcast", humanName(message.name), this.#rows(message));
  }

  notice(text, tone = "note") {
    this.#add(tone, text);
  }

  clear() {
    this.#list.replaceChildren();
    this.#newest = null;
  }
}

function sentWords(command, values) {
  if (command.kind === "state") return `${command.label}: ${valueWords(values[command.fields[0].name])}`;
  const parts = Object.entries(values).map(([key, value]) => `${humanName(key).toLowerCase()} ${valueWords(value, 60)}`);
  return [command.label, parts.join(", ")].filter(Boolean).join(" · ");
}
