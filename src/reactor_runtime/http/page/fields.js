// A control for one argument of a command, whatever its kind.
//
// Every kind is a function (field, {id, onInput, onCommit, onProblem, uploads}) → {element, read(),
// write(value)}: onInput while the value moves (sliders), onCommit when the person is done with it,
// onProblem with words for what is wrong. read() throws FieldProblem when what stands there is not
// a value.

import { makeChoice } from "./choice_field.js";
import { makeFile } from "./file_field.js";
import { h } from "./element.js";
import { makeJson } from "./json_field.js";
import { makeNumber, makeSlider } from "./number_field.js";
import { makeSwitch } from "./switch_field.js";
import { makeText } from "./text_field.js";

const KINDS = {
  slider: makeSlider,
  number: makeNumber,
  switch: makeSwitch,
  choice: makeChoice,
  text: makeText,
  file: makeFile,
  files: makeFile,
  json: makeJson,
};

let count = 0;

/**
 * A labelled field: `{element, field, read, current, write, showProblem}`. `current()` gives what
 * stands there; `read()` gives undefined when the argument may be left out and was not touched.
 * `actions` go beside the control; `uploads` sends files ahead.
 */
export function makeField(field, { onInput, onCommit, uploads, actions = [] }) {
  count += 1;
  const id = `field-${count}`;
  let touched = false;
  const touch = (next) => () => {
    touched = true;
    showProblem("");
    showReset();
    next?.();
  };
  const given = (next) => () => {
    none?.write(false); // a value was chosen: it is not none any more
    touch(next)();
  };
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const control = KINDS[field.kind](field, {
    id,
    onInput: given(onInput),
    onCommit: given(onCommit),
    onProblem: showProblem,
    uploads,
  });
  const reset = h("button", { type: "button", class: "reset", hidden: true, title: "Back to the default" }, "Reset");
  const none = field.nullable ? makeNone(field, touch(onCommit)) : null;
  const label = h("label", { for: id, class: "label" }, field.label);

  const element = h(
    "div",
    { class: `field field-${field.kind}`, "data-field": field.name },
    h("div", { class: "field-head" }, label, reset, none?.element ?? null),
    field.description ? h("p", { class: "hint", id: `${id}-hint` }, field.description) : null,
    h("div", { class: "field-body" }, control.element, ...actions),
    problem,
  );
  const input = control.element.querySelector(`#${id}`) ?? control.element;
  if (field.description) input.setAttribute("aria-describedby", `${id}-hint`);

  function showProblem(text) {
    problem.hidden = !text;
    problem.textContent = text;
    element.classList.toggle("has-problem", Boolean(text));
  }

  function showReset() {
    let value;
    try {
      value = control.read();
    } catch {
      value = undefined;
    }
    const resettable = field.hasDefault && field.default !== null && !["file", "files"].includes(field.kind);
    reset.hidden = !resettable || JSON.stringify(value) === JSON.stringify(field.default);
  }

  function write(value) {
    none?.write(value === null);
    if (value !== null && value !== undefined) control.write(value);
    showReset();
  }

  reset.addEventListener("click", () => {
    write(field.default);
    touch(onCommit)();
  });
  write(field.default);
  return {
    element,
    field,
    write,
    showProblem,
    read() {
      if (none?.isOn()) return null;
      if (!touched && field.hasDefault && !field.required) return undefined;
      return control.read();
    },
    current: () => (none?.isOn() ? null : control.read()),
  };
}

function makeNone(field, changed) {
  const box = h("input", { type: "checkbox", class: "none-box" });
  box.addEventListener("change", changed);
  return {
    element: h("label", { class: "none" }, box, "None"),
    isOn: () => box.checked,
    write: (on) => {
      box.checked = on;
    },
  };
}
