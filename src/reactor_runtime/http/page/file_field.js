// A file, or several: chosen, or dropped onto the field, and sent at once. Its value is the File
// itself; uploads.js knows what became of it.

import { h, icon } from "./element.js";
import { FieldProblem } from "./field_problem.js";
import { sizeWords } from "./file_facts.js";
import { fileWords } from "./words.js";

/** Make `zone` take what is dropped onto it; `take` gets the files. */
export function takeDrops(zone, take) {
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
    if (event.dataTransfer.files.length > 0) take(event.dataTransfer.files);
  });
}

/** One chosen file as a row: thumbnail, name and size, how much of it has been sent. */
function makeRow(file, { uploads, onRemove, onProblem }) {
  const bar = h("progress", { max: 1, value: 0, "aria-label": `Sending ${file.name}` });
  const state = h("span", { class: "file-state" });
  const picture = h("span", { class: "thumb" }, icon("file"));
  const remove = h("button", { type: "button", class: "file-remove", onclick: onRemove, "aria-label": `Remove ${file.name}` }, "×");
  const text = h("span", { class: "file-text" }, h("span", { class: "file-name" }, file.name), h("small", {}, sizeWords(file.size)));
  const element = h("li", { class: "file-row is-sending" }, picture, text, state, remove, bar);
  let address = null;

  function settle(outcome, words) {
    element.classList.remove("is-sending");
    element.classList.add(outcome);
    state.textContent = words;
    bar.remove();
  }

  // Only what the server has taken is shown: it has looked how large the picture says it is.
  function showPicture() {
    if (!file.type.startsWith("image/")) return;
    address = URL.createObjectURL(file);
    const image = h("img", { src: address, alt: "", decoding: "async" });
    image.addEventListener("error", () => picture.replaceChildren(icon("file")));
    picture.replaceChildren(image);
  }

  uploads.send(file, (share) => (bar.value = share)).then(
    () => {
      settle("is-sent", "✓");
      state.title = "Sent";
      showPicture();
    },
    (error) => {
      settle("is-failed", "✕");
      if (element.isConnected) onProblem(fileWords(error));
    },
  );
  return {
    file,
    element,
    release() {
      element.remove();
      uploads.cancel(file);
      if (address) URL.revokeObjectURL(address);
    },
  };
}

export function makeFile(field, { id, onCommit, onProblem, uploads }) {
  const isMany = field.kind === "files";
  let rows = [];
  const input = h("input", { type: "file", id, multiple: isMany, class: "file-input" });
  const text = h("span", { class: "file-hint" });
  const zone = h("label", { for: id, class: "drop" }, icon("file"), text, input);
  const list = h("ul", { class: "files" });

  function show() {
    const more = rows.length > 0;
    const one = more ? "Choose another file" : "Choose a file or drop it here";
    text.textContent = isMany ? (more ? "Add more files" : "Choose files or drop them here") : one;
    list.hidden = !more;
  }

  function remove(row) {
    row.release();
    rows = rows.filter((each) => each !== row);
    onProblem("");
    show();
  }

  function take(files) {
    const chosen = [...files].slice(0, isMany ? undefined : 1);
    if (chosen.length === 0) return;
    onProblem("");
    if (!isMany) for (const row of rows) remove(row);
    for (const file of chosen) {
      const row = makeRow(file, { uploads, onProblem, onRemove: () => remove(row) });
      rows.push(row);
      list.append(row.element);
    }
    input.value = ""; // the same file may be chosen again
    show();
    onCommit?.();
  }

  input.addEventListener("change", () => take(input.files));
  takeDrops(zone, take);
  show();
  return {
    element: h("div", { class: "file-field" }, zone, list),
    read() {
      if (rows.length === 0) throw new FieldProblem("Choose a file");
      return isMany ? rows.map((row) => row.file) : rows[0].file;
    },
    write() {}, // a browser lets nobody preset a file
  };
}
