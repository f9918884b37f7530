import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveFiles, Uploads } from "./page/uploads.js";

const file = (name, size = 3) => new File([new Uint8Array(size)], name, { type: "image/png" });

/** A server that takes files when it is told to, and a connection to it. */
function stage() {
  const peer = { sessionId: "s", notices: [], notify: (kind, body) => peer.notices.push([kind, body.upload.name]) };
  const connection = { peer };
  const server = {
    reserved: 0,
    puts: [],
    async reserveUpload(_session, { name }) {
      server.reserved += 1;
      return { presigned_id: `id-${server.reserved}`, path: `uploads/${name}` };
    },
    putUpload(path, _file, onProgress, signal) {
      return new Promise((resolve, reject) => {
        server.puts.push({ path, onProgress, resolve, reject });
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    },
  };
  return { connection, server, peer, uploads: new Uploads(connection, server) };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));

test("a file is sent once, whoever asks, and its progress is told to all", async () => {
  const { server, uploads, peer } = stage();
  const [one, shares, others] = [file("a.png"), [], []];
  const first = uploads.send(one, (share) => shares.push(share));
  await settle();
  server.puts[0].onProgress(0.5);
  const second = uploads.send(one, (share) => others.push(share));
  server.puts[0].resolve();
  assert.deepEqual(await first, { upload_id: "id-1", name: "a.png", mime_type: "image/png", size: 3 });
  assert.equal(await second, await first);
  assert.deepEqual(shares, [0, 0.5, 1]);
  assert.deepEqual(others, [0.5, 1]);
  assert.deepEqual(peer.notices, [["file_uploaded", "a.png"]]);
  await uploads.send(one);
  assert.equal(server.reserved, 1);
});

test("three are under way at once, the others wait", async () => {
  const { server, uploads } = stage();
  const all = [1, 2, 3, 4, 5].map((n) => uploads.send(file(`${n}`)));
  await settle();
  assert.equal(server.puts.length, 3);
  for (let n = 0; n < 5; n += 1) {
    server.puts[n].resolve();
    await settle();
  }
  assert.equal((await Promise.all(all)).length, 5);
});

test("one that failed may be sent again", async () => {
  const { server, uploads } = stage();
  const one = file("a");
  const failed = uploads.send(one);
  await settle();
  server.puts[0].reject(new Error("no"));
  await assert.rejects(failed, /no/);
  const again = uploads.send(one);
  await settle();
  server.puts[1].resolve();
  assert.equal((await again).upload_id, "id-2");
});

test("one that is called off ends, and the next has its turn", async () => {
  const { server, uploads } = stage();
  const files = [1, 2, 3, 4].map((n) => file(`${n}`));
  const all = files.map((each) => uploads.send(each));
  await settle();
  uploads.cancel(files[3]); // it waits for its turn
  uploads.cancel(files[0]);
  await assert.rejects(all[0]);
  await assert.rejects(all[3]);
  server.puts[1].resolve();
  server.puts[2].resolve();
  assert.equal((await Promise.all([all[1], all[2]])).length, 2);
  uploads.cancel(files[1]); // sent already
  assert.equal((await uploads.send(files[1])).name, "2");
});

test("a new connection gets its files anew, and without one nothing is sent", async () => {
  const { connection, server, uploads, peer } = stage();
  const one = file("a");
  const first = uploads.send(one);
  await settle();
  server.puts[0].resolve();
  await first;
  connection.peer = { ...peer };
  void uploads.send(one);
  await settle();
  assert.equal(server.reserved, 2);
  connection.peer = null;
  await assert.rejects(uploads.send(one), { code: "not_connected" });
});

test("files leave the arguments for their place in the command", async () => {
  const send = async ({ name }) => ({ upload_id: name });
  const values = { cover: file("c"), many: [file("a"), file("b")], n: 3, none: [] };
  assert.deepEqual(await resolveFiles(values, send), {
    data: { many: [{ upload_id: "a" }, { upload_id: "b" }], n: 3, none: [] },
    uploads: { cover: { upload_id: "c" } },
  });
});
