// Text: grows with its content; Enter is done, Shift+Enter begins a new line.

import { h } from "./element.js";
import { FieldProblem } from "./field_problem.js";

const TALLEST_PX = 160;

export function makeText(field, { id, onInput, onCommit }) {
  const area = h("textarea", { id, rows: 1, class: "line", maxlength: field.maxLength, enterkeyhint: "send", spellcheck: "false" });
  area.placeholder = field.required ? "" : "Empty";

  function fit() {
    if (!area.isConnected || CSS.supports("field-sizing", "content")) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(TALLEST_PX, area.scrollHeight + 2)}px`;
  }

  area.addEventListener("input", () => {
    fit();
    onInput();
  });
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    onCommit();
  });
  return {
    element: area,
    read() {
      const short = field.minLength ?? 0;
      if (area.value.length < short) {
        throw new FieldProblem(short === 1 ? "Type something" : `At least ${short} characters`);
      }
      return area.value;
    },
    write(value) {
      area.value = String(value);
      requestAnimationFrame(fit);
    },
  };
}
