// The messages of the two data channels: what this page says and what it understands.

import { fields, record, text, WireError, Writer } from "./protobuf.js";
import { readStruct, writeStruct } from "./struct.js";

const REQUEST = 1;
const NOTIFICATION = 3;

const CONTROL_NUMBERS = {
  ping: 10,
  file_uploaded: 12,
  request_clip: 13,
  publish_track: 15,
  pause_track: 16,
  resume_track: 17,
  unpublish_track: 18,
};

function head(requestId) {
  const out = new Writer();
  if (requestId) out.string(1, requestId);
  return out.uint(2, requestId ? REQUEST : NOTIFICATION);
}

function reference(upload) {
  return new Writer()
    .string(1, upload.upload_id)
    .string(2, upload.name)
    .string(3, upload.mime_type)
    .uint(4, upload.size);
}

/** A command: `data` is its arguments, `uploads` maps argument names to upload references. */
export function encodeCommand(requestId, name, data = {}, uploads = {}) {
  const command = new Writer().string(1, name).message(2, writeStruct(data));
  for (const [argument, upload] of Object.entries(uploads)) {
    command.message(3, new Writer().string(1, argument).message(2, reference(upload)));
  }
  return head(requestId).message(10, command).finish();
}

/** A control message; an empty `requestId` makes it a notification. */
export function encodeControl(requestId, member, { name, upload, seconds } = {}) {
  const number = CONTROL_NUMBERS[member];
  if (!number) throw new WireError(`unknown control message ${member}`);
  let body = new Writer();
  if (upload) body = reference(upload);
  else if (name) body.string(1, name);
  else if (seconds) body.double(1, seconds);
  return head(requestId).message(number, body).finish();
}

const ERROR = { 1: ["code", text], 2: ["message", text] };
const MESSAGE = { 1: ["name", text], 2: ["body", readStruct] };
const MODERATION = { 1: ["action", text], 3: ["command", text], 5: ["message", text] };
const ENDED = { 1: ["reason", text] };
const number = (value) => value;
const CLIP = {
  1: ["session_id", text],
  2: ["kind", text],
  3: ["start_marker", number],
  4: ["end_marker", number],
  5: ["now_marker", number],
  6: ["predicted_ready_at_ms", number],
  7: ["playlist_url", text],
};
const CLIP_INITIAL = { session_id: "", kind: "", start_marker: 0, end_marker: 0, now_marker: 0, predicted_ready_at_ms: 0, playlist_url: "" };

function decode(bytes, members) {
  const message = { requestId: "", type: "none", body: null };
  for (const field of fields(bytes)) {
    if (field.number === 1) message.requestId = text(field.value);
    else if (members[field.number]) {
      const [type, names, initial] = members[field.number];
      message.type = type;
      message.body = { ...initial, ...record(field.value, names) };
    }
  }
  return message;
}

/**
 * Read a frame of the data channel: `{requestId, type, body}` where type is
 * "message" ({name, body}), "error" ({code, message}) or "none" (an acknowledgement).
 */
export function decodeData(bytes) {
  return decode(bytes, {
    10: ["message", MESSAGE, { name: "", body: {} }],
    40: ["error", ERROR, { code: "", message: "" }],
  });
}

/**
 * Read a frame of the control channel; types: clip_ready, clip_failed, publish_track, moderation,
 * session_ended, error.
 */
export function decodeControl(bytes) {
  return decode(bytes, {
    11: ["clip_ready", CLIP, CLIP_INITIAL],
    12: ["clip_failed", ENDED, { reason: "" }],
    13: ["moderation", MODERATION, { action: "", command: "", message: "" }],
    14: ["publish_track", { 1: ["name", text] }, { name: "" }],
    15: ["session_ended", ENDED, { reason: "" }],
    40: ["error", ERROR, { code: "", message: "" }],
  });
}
