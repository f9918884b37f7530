import assert from "node:assert/strict";
import { test } from "node:test";

import { metadataOf } from "./page/metadata.js";

test("tracks with metadata are told, in order", () => {
  const tracks = { depth: { metadata: "[1]" }, plain: { fps: 24 }, main: { metadata: "null" } };
  assert.deepEqual(metadataOf({ tracks: { fps: 24, tracks } }), [["depth", "[1]"], ["main", "null"]]);
});

test("a server without media tells nothing", () => {
  assert.deepEqual(metadataOf({ tracks: {} }), []);
  assert.deepEqual(metadataOf({}), []);
});
