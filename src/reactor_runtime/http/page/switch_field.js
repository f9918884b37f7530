// A switch for true and false.

import { h } from "./element.js";

export function makeSwitch(field, { id, onCommit }) {
  const box = h("input", { type: "checkbox", role: "switch", id, class: "switch" });
  box.addEventListener("change", onCommit);
  return {
    element: box,
    read: () => box.checked,
    write: (value) => {
      box.checked = Boolean(value);
    },
  };
}
