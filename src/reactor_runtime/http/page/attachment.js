// A file for a place inside a value that is written as JSON: sent, and its reference put where the
// person writes.

import { h, icon } from "./element.js";
import { takeDrops } from "./file_field.js";
import { fileWords } from "./words.js";

/** A button beside `area` that takes files, as the area itself does. */
export function makeAttachment(area, { onProblem, onInput, uploads }) {
  const input = h("input", { type: "file", multiple: true, class: "file-input", "aria-label": "Attach a file" });
  const state = h("span", { class: "attach-text" }, "Attach a file");
  const button = h("label", { class: "attach" }, icon("file"), state, input);

  function insert(reference) {
    const text = JSON.stringify(reference);
    if (area.value.trim() === "[]") area.value = `[${text}]`;
    else area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.rows = Math.min(8, Math.max(area.rows, 4));
    onInput?.();
  }

  async function take(files) {
    onProblem("");
    for (const file of [...files]) {
      try {
        insert(await uploads.send(file, (share) => (state.textContent = `Sending ${Math.round(100 * share)} %`)));
      } catch (error) {
        onProblem(fileWords(error));
      }
    }
    state.textContent = "Attach a file";
    input.value = "";
  }

  input.addEventListener("change", () => take(input.files));
  takeDrops(button, take);
  takeDrops(area, take);
  return button;
}
