// Listens to the keyboard and shows which keys there are.

import { h, keyCap } from "./element.js";
import { pause } from "./rate.js";

const REPEAT_MS = 70; // a held key moves about fourteen times a second, whatever the system's rate

const PAGE_KEYS = [
  ["m", "Sound on and off"],
  ["f", "Full screen"],
  ["?", "This list"],
];

function isTyping(target) {
  return target.closest("textarea, select, dialog, [contenteditable], input:not([type=checkbox]):not([type=range])");
}

/** Keys that the focused element needs for itself: arrows for a slider, Space for a button. */
function isOwnKey(target, key) {
  if (target.matches("input[type=range]")) return key.startsWith("Arrow");
  return key === " " && target.matches("button, summary, input[type=checkbox], label, a");
}

export class Keyboard {
  #controls;
  #dispatch;
  #page;
  #bindings = new Map();
  #dialog;
  #held = new Map();

  /** `page` holds what the page's own keys do: {m, f}. */
  constructor(dialog, controls, dispatch, page) {
    this.#dialog = dialog;
    this.#controls = controls;
    this.#dispatch = dispatch;
    this.#page = page;
    document.addEventListener("keydown", (event) => this.#down(event));
    document.addEventListener("keyup", (event) => this.#up(event.key));
    globalThis.addEventListener("blur", () => [...this.#held.keys()].forEach((key) => this.#up(key)));
  }

  show(bindings) {
    this.#bindings = new Map(bindings.map((binding) => [binding.key, binding]));
    const row = (keys, what) => h("div", {}, h("dt", {}, keys.map(keyCap)), h("dd", {}, what));
    const groups = new Map();
    for (const { key, what } of bindings) groups.set(what, [...(groups.get(what) ?? []), key]);
    const model = [...groups].map(([what, keys]) => row(keys, what));
    this.#dialog.querySelector(".keys-model").replaceChildren(...model);
    this.#dialog.querySelector(".keys-page").replaceChildren(...PAGE_KEYS.map(([key, what]) => row([key], what)));
    this.#dialog.classList.toggle("is-bare", model.length === 0);
  }

  toggleHelp() {
    if (this.#dialog.open) this.#dialog.close();
    else this.#dialog.showModal();
  }

  #down(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (key === "?" && !isTyping(target)) return this.toggleHelp();
    if (isTyping(target) || isOwnKey(target, key)) return;
    const name = key.length === 1 ? key.toLowerCase() : key;
    const binding = this.#bindings.get(name);
    if (binding) {
      event.preventDefault();
      if (!this.#held.has(name)) void this.#hold(name, binding);
    } else if (this.#page[name] && !event.repeat) this.#page[name]();
  }

  async #hold(key, binding) {
    const released = new AbortController();
    this.#held.set(key, released);
    this.#act(binding);
    if (!binding.repeats) return;
    await pause(280, released.signal);
    while (!released.signal.aborted) {
      this.#act(binding);
      await pause(REPEAT_MS, released.signal);
    }
  }

  #up(name) {
    const key = name.length === 1 ? name.toLowerCase() : name;
    const released = this.#held.get(key);
    if (!released) return;
    this.#held.delete(key);
    released.abort();
    const binding = this.#bindings.get(key);
    const isOtherHeld = [...this.#held.keys()].some((held) => this.#bindings.get(held)?.release !== undefined);
    if (binding?.release !== undefined && !isOtherHeld) this.#set(binding, binding.release);
  }

  #act(binding) {
    const { command, kind } = binding;
    if (kind === "press") void this.#controls.press(command.name);
    else if (kind === "set") this.#set(binding, binding.value);
    else if (kind === "toggle") void this.#controls.set(command.name, !this.#controls.current(command.name));
    else if (kind === "nudge") this.#nudge(binding);
    else if (kind === "next") {
      const { choices } = command.fields[0];
      const next = (choices.indexOf(this.#controls.current(command.name)) + 1) % choices.length;
      void this.#controls.set(command.name, choices[next]);
    }
  }

  #nudge({ command, value }) {
    const { minimum, maximum, step } = command.fields[0];
    const raw = this.#controls.current(command.name) + value * (maximum - minimum);
    const next = minimum + Math.round((raw - minimum) / step) * step;
    const bounded = Math.min(maximum, Math.max(minimum, Number(next.toFixed(10))));
    void this.#controls.set(command.name, bounded);
  }

  #set({ command }, value) {
    if (command.kind === "state") void this.#controls.set(command.name, value);
    else void this.#dispatch.call(command, { [command.fields[0].name]: value });
  }
}
