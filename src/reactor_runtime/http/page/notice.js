// The notice over the picture: where the page stands and what a person can do about it.

import { h } from "./element.js";
import { phaseWords } from "./words.js";

export class Notice {
  #chip;
  #root;

  /** Events of the person are given to `onAction()` and `onToken(token)`. */
  constructor(chip, root, { onAction, onToken }) {
    this.#chip = chip;
    this.#root = root;
    this.onAction = onAction;
    this.onToken = onToken;
  }

  show(phase, facts) {
    const words = phaseWords(phase, facts);
    document.body.dataset.phase = phase;
    this.#chip.dataset.tone = words.tone;
    this.#chip.querySelector(".chip-text").textContent = words.chip;
    this.#set(words);
  }

  /** Over a live connection: nothing to see yet. */
  wait(title, text = "") {
    this.#set({ title, text, isBusy: true });
  }

  /** The same, with something to do about it. */
  ask(title, text, action, onAction) {
    this.#set({ title, text, action, onAction });
  }

  clear() {
    this.#set({ title: "" });
  }

  /** The path is silent but not given up. */
  unsteady(isUnsteady) {
    if (document.body.dataset.phase !== "live") return;
    this.#chip.dataset.tone = isUnsteady ? "busy" : "good";
    this.#chip.querySelector(".chip-text").textContent = isUnsteady ? "Unsteady" : "Live";
  }

  #set({ title, text, action, onAction = this.onAction, isBusy, asksToken, tone }) {
    this.#root.hidden = !title;
    this.#root.dataset.tone = tone ?? "";
    if (!title) return this.#root.replaceChildren();
    const parts = [
      isBusy ? h("div", { class: "spinner", "aria-hidden": "true" }) : null,
      h("h2", {}, title),
      text ? h("p", {}, text) : null,
      asksToken ? this.#tokenForm() : null,
      action ? h("button", { type: "button", class: "primary", onclick: () => onAction() }, action) : null,
    ];
    this.#root.replaceChildren(h("div", { class: "notice-card" }, parts.filter(Boolean)));
  }

  #tokenForm() {
    const input = h("input", { type: "password", autocomplete: "off", placeholder: "Token", "aria-label": "Token" });
    const form = h("form", { class: "token" }, input, h("button", { type: "submit", class: "primary" }, "Unlock"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value.trim()) this.onToken(input.value.trim());
    });
    return form;
  }
}
