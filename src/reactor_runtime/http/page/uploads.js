// From a File in the browser to a reference that a command can carry.

import { ServerError } from "./server.js";

/**
 * Send `file` and return its reference `{upload_id, name, mime_type, size}`.
 *
 * A server without uploads gets a reference to nothing, so that the answer to the command, and with
 * it the plain refusal, is the server's own.
 */
async function upload(file, { server, sessionId, peer }) {
  const reference = {
    upload_id: randomId(),
    name: file.name || "file",
    mime_type: file.type || "application/octet-stream",
    size: file.size,
  };
  let slot;
  try {
    slot = await server.reserveUpload(sessionId, file);
  } catch (error) {
    if (error instanceof ServerError && [404, 405, 501].includes(error.status)) return reference;
    throw error;
  }
  reference.upload_id = slot.presigned_id;
  await server.putUpload(slot.presigned_url, file);
  peer.notify("file_uploaded", { upload: reference });
  return reference;
}

function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16)); // randomUUID is for HTTPS pages only
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Split `values` into what a command carries: `{data, uploads}`, with every File sent. */
export async function resolveFiles(values, place) {
  const data = {};
  const uploads = {};
  for (const [name, value] of Object.entries(values)) {
    if (value instanceof File) uploads[name] = await upload(value, place);
    else if (Array.isArray(value) && value[0] instanceof File) {
      data[name] = await Promise.all(value.map((file) => upload(file, place)));
    } else data[name] = value;
  }
  return { data, uploads };
}
