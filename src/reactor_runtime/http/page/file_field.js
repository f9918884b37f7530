// A file: chosen, or dropped onto the field. Its value is the File itself; uploads.js sends it.

import { h, icon } from "./element.js";
import { FieldProblem } from "./field_problem.js";

export function sizeWords(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}

export function makeFile(field, { id, onCommit }) {
  const isMany = field.kind === "files";
  let files = [];
  const input = h("input", { type: "file", id, multiple: isMany, class: "file-input" });
  const text = h("span", { class: "file-text" });
  const zone = h("label", { for: id, class: "drop" }, icon("file"), text, input);

  function show() {
    const names = files.map((file) => `${file.name} · ${sizeWords(file.size)}`);
    text.textContent = names.join(", ") || (isMany ? "Choose files or drop them here" : "Choose a file or drop it here");
    zone.classList.toggle("is-filled", files.length > 0);
  }

  function take(list) {
    files = [...list].slice(0, isMany ? undefined : 1);
    show();
    if (files.length > 0) onCommit();
  }

  input.addEventListener("change", () => take(input.files));
  for (const type of ["dragenter", "dragover"]) {
    zone.addEventListener(type, (event) => {
      event.preventDefault();
      zone.classList.add("is-over");
    });
  }
  for (const type of ["dragleave", "drop"]) {
    zone.addEventListener(type, () => zone.classList.remove("is-over"));
  }
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files);
  });
  show();
  return {
    element: zone,
    read() {
      if (files.length === 0) throw new FieldProblem("Choose a file");
      return isMany ? files : files[0];
    },
    write() {}, // a browser lets nobody preset a file
    clear() {
      files = [];
      input.value = "";
      show();
    },
  };
}
