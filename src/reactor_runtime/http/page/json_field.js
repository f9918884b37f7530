// Lists, objects and values of no declared type: written as JSON and checked while typing.

import { makeAttachment } from "./attachment.js";
import { h } from "./element.js";
import { FieldProblem } from "./field_problem.js";
import { checkValue, holdsFiles } from "./schema.js";

function example({ type }) {
  return { array: "[ ]", object: "{ }" }[type] ?? "JSON";
}

export function makeJson(field, { id, onCommit, onInput, ...others }) {
  const area = h("textarea", { id, rows: 2, class: "code", spellcheck: "false", autocomplete: "off" });
  area.placeholder = example(field.schema);

  function read() {
    let value;
    try {
      value = JSON.parse(area.value);
    } catch (error) {
      throw new FieldProblem(area.value.trim() ? `Not valid JSON: ${error.message}` : "Type a JSON value");
    }
    const problem = checkValue(value, field.schema, field.components);
    if (problem) throw new FieldProblem(problem);
    return value;
  }

  area.addEventListener("input", onInput);
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onCommit();
  });
  const takesFiles = holdsFiles(field.schema, field.components);
  const attach = takesFiles ? makeAttachment(area, { onInput, ...others }) : null;
  return {
    element: attach ? h("div", { class: "code-with-files" }, area, attach) : area,
    read,
    write(value) {
      area.value = JSON.stringify(value, null, compact(value) ? 0 : 2);
      area.rows = Math.min(8, Math.max(2, area.value.split("\n").length));
    },
  };
}

function compact(value) {
  return JSON.stringify(value).length < 40;
}
