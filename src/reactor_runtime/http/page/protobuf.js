// The protobuf wire format, by hand: enough to write and read the few messages of this page.
// Unknown fields are the reader's caller to skip; nothing here knows a message by name.

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const FIXED32 = 5;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Raised when bytes are not a protobuf message. */
export class WireError extends Error {}

/** Builds one message, field by field, in the order of the calls. */
export class Writer {
  #parts = [];
  #size = 0;

  #push(bytes) {
    this.#parts.push(bytes);
    this.#size += bytes.length;
  }

  #varint(value) {
    const out = [];
    while (value > 127) {
      out.push((value % 128) | 128);
      value = Math.floor(value / 128);
    }
    out.push(value);
    this.#push(Uint8Array.from(out));
  }

  #head(number, type) {
    this.#varint(number * 8 + type);
  }

  /** A non-negative integer up to 2**53, an enum or a boolean. */
  uint(number, value) {
    this.#head(number, VARINT);
    this.#varint(Number(value));
    return this;
  }

  double(number, value) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setFloat64(0, value, true);
    this.#head(number, FIXED64);
    this.#push(bytes);
    return this;
  }

  bytes(number, value) {
    this.#head(number, LENGTH);
    this.#varint(value.length);
    this.#push(value);
    return this;
  }

  string(number, value) {
    return this.bytes(number, encoder.encode(value));
  }

  message(number, writer) {
    return this.bytes(number, writer.finish());
  }

  finish() {
    const whole = new Uint8Array(this.#size);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    return whole;
  }
}

/**
 * Yields `{number, value}` for every field: a number for integers and doubles, bytes for the rest.
 * Throws WireError when the message is cut short or holds an unknown wire type.
 */
export function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  function varint() {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 10; count += 1) {
      if (at >= bytes.length) throw new WireError("the message is cut short");
      const byte = bytes[at];
      at += 1;
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte < 128) return value;
    }
    throw new WireError("an integer is too long");
  }

  function take(size) {
    if (at + size > bytes.length) throw new WireError("the message is cut short");
    at += size;
    return at - size;
  }

  while (at < bytes.length) {
    const head = varint();
    const number = Math.floor(head / 8);
    const type = head % 8;
    if (type === VARINT) yield { number, value: varint() };
    else if (type === FIXED64) yield { number, value: view.getFloat64(take(8), true) };
    else if (type === FIXED32) yield { number, value: view.getFloat32(take(4), true) };
    else if (type === LENGTH) {
      const size = varint();
      const start = take(size);
      yield { number, value: bytes.subarray(start, start + size) };
    } else throw new WireError(`unknown wire type ${type}`);
  }
}

/** The text in a field's bytes. */
export function text(value) {
  if (!(value instanceof Uint8Array)) throw new WireError("expected text");
  return decoder.decode(value);
}

/** The fields of a nested message as a plain object; `names` maps field number to [name, read]. */
export function record(value, names) {
  if (!(value instanceof Uint8Array)) throw new WireError("expected a message");
  const found = {};
  for (const field of fields(value)) {
    const known = names[field.number];
    if (known) found[known[0]] = known[1](field.value);
  }
  return found;
}
