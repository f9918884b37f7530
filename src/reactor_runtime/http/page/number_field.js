// Numbers: a slider with an exact value beside it, or a plain number box.

import { h } from "./element.js";
import { FieldProblem } from "./field_problem.js";

function parse(text, { integer, minimum, maximum }) {
  const value = text.trim() === "" ? NaN : Number(text.replace(",", "."));
  if (!Number.isFinite(value)) throw new FieldProblem("Type a number");
  if (integer && !Number.isInteger(value)) throw new FieldProblem("Type a whole number");
  if (minimum !== undefined && value < minimum) throw new FieldProblem(`Not below ${minimum}`);
  if (maximum !== undefined && value > maximum) throw new FieldProblem(`Not above ${maximum}`);
  return value;
}

function decimals(step) {
  const text = String(step);
  if (text.includes("e-")) return Number(text.split("e-")[1]);
  return text.includes(".") ? text.split(".")[1].length : 0;
}

/** A slider; the box beside it takes an exact value on Enter. */
export function makeSlider(field, { id, onInput, onCommit, onProblem }) {
  const { minimum, maximum, step, label } = field;
  const range = h("input", { type: "range", id, min: minimum, max: maximum, step: "any" });
  const box = h("input", { type: "text", inputmode: "decimal", class: "value", "aria-label": `${label}, exact value` });
  const places = decimals(step);
  let value = minimum;

  function show() {
    range.value = value;
    range.setAttribute("aria-valuetext", box.value);
    const share = maximum > minimum ? (value - minimum) / (maximum - minimum) : 0;
    range.style.setProperty("--fill", `${share * 100}%`);
  }

  function write(next) {
    value = Number(next);
    box.value = Number.isInteger(value) && places === 0 ? String(value) : value.toFixed(Math.min(places, 6));
    show();
  }

  function snap(raw) {
    const snapped = minimum + Math.round((raw - minimum) / step) * step;
    return Number(Math.min(maximum, Math.max(minimum, snapped)).toFixed(10));
  }

  range.addEventListener("input", () => {
    write(snap(Number(range.value)));
    onInput();
  });
  range.addEventListener("keydown", (event) => {
    const move = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (!move) return;
    event.preventDefault(); // a step of "any" would move by one per key, whatever the range
    write(snap(value + move * step));
    onInput();
  });
  box.addEventListener("change", () => {
    try {
      write(parse(box.value, field));
      onCommit();
    } catch (error) {
      write(value); // the slider shows the range; a value outside it falls back, and says so
      onProblem(`${error.message}; it is ${box.value} as before`);
    }
  });
  write(minimum);
  return { element: h("div", { class: "slider" }, range, box), read: () => value, write };
}

/** A number without both bounds. */
export function makeNumber(field, { id, onCommit }) {
  const input = h("input", { type: "text", inputmode: "decimal", id, autocomplete: "off" });
  const bounds = [
    field.minimum !== undefined ? `from ${field.minimum}` : "",
    field.maximum !== undefined ? `up to ${field.maximum}` : "",
  ].join(" ");
  input.placeholder = bounds.trim() || (field.integer ? "whole number" : "number");
  input.addEventListener("change", onCommit);
  return {
    element: input,
    read: () => parse(input.value, field),
    write: (value) => {
      input.value = String(value);
    },
  };
}
