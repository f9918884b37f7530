// google.protobuf.Struct: a JSON object as a protobuf message. All its numbers are doubles.
//
//   Struct    { map<string, Value> fields = 1 }      an entry is { key = 1, value = 2 }
//   Value     { null = 1 | number = 2 | string = 3 | bool = 4 | struct = 5 | list = 6 }
//   ListValue { repeated Value values = 1 }

import { fields, text, WireError, Writer } from "./protobuf.js";

const MAX_DEPTH = 64;

function writeValue(value, depth) {
  if (depth > MAX_DEPTH) throw new WireError("the value is nested too deeply");
  const out = new Writer();
  if (value === null || value === undefined) return out.uint(1, 0);
  if (typeof value === "number") return out.double(2, value);
  if (typeof value === "string") return out.string(3, value);
  if (typeof value === "boolean") return out.uint(4, value);
  if (Array.isArray(value)) {
    const list = new Writer();
    for (const item of value) list.message(1, writeValue(item, depth + 1));
    return out.message(6, list);
  }
  return out.message(5, writeStruct(value, depth + 1));
}

/** Write a plain object as a Struct. */
export function writeStruct(object, depth = 0) {
  const out = new Writer();
  for (const [key, value] of Object.entries(object)) {
    out.message(1, new Writer().string(1, key).message(2, writeValue(value, depth)));
  }
  return out;
}

function readValue(bytes, depth) {
  if (depth > MAX_DEPTH) throw new WireError("the value is nested too deeply");
  let result = null;
  for (const { number, value } of fields(bytes)) {
    if (number === 1) result = null;
    else if (number === 2) result = value;
    else if (number === 3) result = text(value);
    else if (number === 4) result = value !== 0;
    else if (number === 5) result = readStruct(value, depth + 1);
    else if (number === 6) {
      result = [];
      for (const item of fields(value)) {
        if (item.number === 1) result.push(readValue(item.value, depth + 1));
      }
    }
  }
  return result;
}

/** Read a Struct as a plain object. */
export function readStruct(bytes, depth = 0) {
  const entries = [];
  for (const { number, value } of fields(bytes)) {
    if (number !== 1) continue;
    let key = "";
    let item = null;
    for (const part of fields(value)) {
      if (part.number === 1) key = text(part.value);
      else if (part.number === 2) item = readValue(part.value, depth);
    }
    entries.push([key, item]);
  }
  return Object.fromEntries(entries); // defines own properties: a key "__proto__" is only a key
}
