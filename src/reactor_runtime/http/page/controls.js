// The panel of controls made from the model's schema: live controls for its state, buttons and
// forms for its other commands.

import { h, icon, keyCap } from "./element.js";
import { makeField } from "./fields.js";
import { FieldProblem } from "./field_problem.js";
import { NewestWins } from "./rate.js";

const BUSY_MS = 1500; // a control that was just moved does not jump to what others set
const LIVE_KINDS = ["slider", "switch", "choice", "number"];

/** A state field: what a person does to it is sent at once. */
function liveControl(command, dispatch) {
  const [field] = command.fields;
  let sentAt = -Infinity;
  const send = async () => {
    sentAt = performance.now();
    let value;
    try {
      value = control.current();
    } catch (error) {
      if (!(error instanceof FieldProblem)) throw error;
      control.showProblem(error.message);
      return;
    }
    const problem = await dispatch.call(command, { [field.name]: value });
    control.showProblem(problem);
  };
  const limited = new NewestWins(send);
  const isImmediate = LIVE_KINDS.includes(field.kind) || field.kind === "file";
  const actions = isImmediate || field.kind === "files" ? [] : [sendButton("Set", send)];
  const control = makeField(field, {
    onInput: field.kind === "slider" ? () => limited.push() : undefined,
    onCommit: () => (isImmediate ? limited.push() : send()),
    uploads: dispatch.uploads,
    actions,
  });
  const isTyping = () => !isImmediate && control.element.contains(document.activeElement);
  const isBusy = () => isTyping() || performance.now() - sentAt < BUSY_MS;
  return { command, element: control.element, write: control.write, current: control.current, send, isBusy };
}

function sendButton(label, onclick) {
  return h("button", { type: "button", class: "send", onclick, title: label, "aria-label": label }, icon("send"));
}

/** A command without arguments. */
function actionButton(command, dispatch) {
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h(
    "button",
    { type: "button", class: "action", title: command.description, "data-command": command.name },
    h("span", {}, command.label),
  );
  const press = async () => {
    button.classList.add("is-pressed");
    setTimeout(() => button.classList.remove("is-pressed"), 160);
    const words = await dispatch.call(command);
    problem.hidden = !words;
    problem.textContent = words;
  };
  button.addEventListener("click", press);
  return { command, element: h("div", { class: "action-cell" }, button, problem), button, press };
}

/** A command with arguments: fill in, then send. */
function commandForm(command, dispatch) {
  const isSingle = command.fields.length === 1;
  const summary = h("p", { class: "problem", role: "alert", hidden: true });
  const submit = () => form.requestSubmit();
  const fields = command.fields.map((field) =>
    makeField(field, { onCommit: field.kind === "text" ? submit : undefined, uploads: dispatch.uploads }),
  );
  const form = h(
    "form",
    { class: "command", "data-command": command.name, "aria-label": command.label },
    h("h3", {}, command.label),
    command.description ? h("p", { class: "hint" }, command.description) : null,
    fields.map(({ element }) => element),
    h("div", { class: "form-end" }, h("button", { type: "submit", class: "primary" }, isSingle ? "Send" : command.label)),
    summary,
  );

  function values() {
    const found = {};
    let isWhole = true;
    for (const control of fields) {
      try {
        const value = control.read();
        if (value !== undefined) found[control.field.name] = value;
      } catch (error) {
        if (!(error instanceof FieldProblem)) throw error;
        control.showProblem(error.message);
        isWhole = false;
      }
    }
    return isWhole ? found : null;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const found = values();
    if (!found) return;
    const words = await dispatch.call(command, found);
    summary.hidden = !words;
    summary.textContent = words;
  });
  return { command, element: form };
}

function section(title, className, ...children) {
  return h("section", { class: `group ${className}` }, h("h2", {}, title), ...children);
}

export class Controls {
  #root;
  #dispatch;
  #live = new Map();
  #buttons = new Map();

  constructor(root, dispatch) {
    this.#root = root;
    this.#dispatch = dispatch;
  }

  /** Show the controls of `schema` (of readSchema), in place of what was there. */
  show(schema) {
    const of = (kind) => schema.commands.filter((command) => command.kind === kind);
    const live = of("state").map((command) => liveControl(command, this.#dispatch));
    const buttons = of("button").map((command) => actionButton(command, this.#dispatch));
    const forms = of("form").map((command) => commandForm(command, this.#dispatch));
    this.#live = new Map(live.map((control) => [control.command.name, control]));
    this.#buttons = new Map(buttons.map((control) => [control.command.name, control]));
    const elements = (list) => list.map(({ element }) => element);
    this.#root.replaceChildren(
      ...[
        live.length && section("Controls", "live", elements(live)),
        buttons.length && section("Actions", "actions", h("div", { class: "action-grid" }, elements(buttons))),
        forms.length && section("Commands", "forms", elements(forms)),
      ].filter(Boolean),
    );
    if (schema.commands.length === 0) this.#root.append(h("p", { class: "empty" }, "This model takes no commands."));
  }

  /** Show on each button and control the key that works it. */
  showKeys(bindings) {
    for (const { key, command, kind } of bindings) {
      const cap = keyCap(key);
      const button = this.#buttons.get(command.name);
      if (button && !button.button.querySelector("kbd")) button.button.append(cap);
      const head = this.#live.get(command.name)?.element.querySelector(".label");
      if (head && ["toggle", "next", "nudge"].includes(kind)) head.append(cap);
    }
  }

  /** A live control shows what somebody else has set, unless this person is at it just now. */
  follow(name, values) {
    const control = this.#live.get(name);
    if (control && !control.isBusy()) control.write(values[control.command.fields[0].name]);
  }

  /** A new session begins: its state holds the defaults. */
  reset() {
    for (const control of this.#live.values()) {
      if (!control.isBusy()) control.write(control.command.fields[0].default);
    }
  }

  /** What a live control shows now, undefined when it is not a value. */
  current(name) {
    try {
      return this.#live.get(name)?.current();
    } catch {
      return undefined;
    }
  }

  /** Set a live control and send it. */
  set(name, value) {
    const control = this.#live.get(name);
    control.write(value);
    return control.send();
  }

  press(name) {
    return this.#buttons.get(name).press();
  }
}
