// One of a few: buttons in a row when they are few and short, a menu otherwise.

import { h } from "./element.js";
import { FieldProblem } from "./field_problem.js";

const ROW_CHOICES = 5;
const ROW_LETTERS = 34;

export function makeChoice(field, options) {
  const labels = field.choices.map(String);
  const fits = labels.length <= ROW_CHOICES && labels.join("").length + 3 * labels.length <= ROW_LETTERS;
  return fits ? makeRow(field, options) : makeMenu(field, options);
}

function makeRow(field, { id, onCommit }) {
  const inputs = field.choices.map((choice, index) =>
    h("input", { type: "radio", name: id, id: `${id}-${index}`, value: index, onchange: onCommit }),
  );
  const buttons = inputs.map((input, index) =>
    h("label", { for: input.id }, input, h("span", {}, String(field.choices[index]))),
  );
  const element = h("div", { class: "segments", role: "radiogroup", id, "aria-label": field.label }, buttons);
  return {
    element,
    read() {
      const index = inputs.findIndex((input) => input.checked);
      if (index < 0) throw new FieldProblem("Choose one");
      return field.choices[index];
    },
    write(value) {
      for (const [index, input] of inputs.entries()) input.checked = field.choices[index] === value;
    },
  };
}

function makeMenu(field, { id, onCommit }) {
  const select = h(
    "select",
    { id, onchange: onCommit },
    field.hasDefault ? null : h("option", { value: "", disabled: true, selected: true }, "Choose…"),
    field.choices.map((choice, index) => h("option", { value: index }, String(choice))),
  );
  return {
    element: h("div", { class: "menu" }, select),
    read() {
      if (select.value === "") throw new FieldProblem("Choose one");
      return field.choices[Number(select.value)];
    },
    write(value) {
      const index = field.choices.indexOf(value);
      if (index >= 0) select.value = String(index);
    },
  };
}
