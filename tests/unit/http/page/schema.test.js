import assert from "node:assert/strict";
import { test } from "node:test";

import { checkValue, holdsFiles, humanName, readField, readSchema, sliderStep } from "./page/schema.js";

const upload = { $ref: "#/components/schemas/ReactorUploadReference" };
const components = { ReactorUploadReference: { type: "object", format: "reactor-upload-reference" } };
const kind = (schema) => readField("x", schema, false, components).kind;

test("each schema has its kind of control", () => {
  assert.equal(kind({ type: "number", minimum: 0, maximum: 1 }), "slider");
  assert.equal(kind({ type: "integer", minimum: 1, maximum: 9 }), "slider");
  assert.equal(kind({ type: "number", minimum: 0 }), "number");
  assert.equal(kind({ type: "boolean" }), "switch");
  assert.equal(kind({ type: "string", enum: ["a", "b"] }), "choice");
  assert.equal(kind({ enum: [1, "b"] }), "choice");
  assert.equal(kind({ type: "string" }), "text");
  assert.equal(kind(upload), "file");
  assert.equal(kind({ type: "array", items: upload }), "files");
  assert.equal(kind({ type: "array", items: { type: "number" } }), "json");
  assert.equal(kind({ type: "object", additionalProperties: { type: "string" } }), "json");
  assert.equal(kind({}), "json");
});

test("a file may stand anywhere inside a value", () => {
  const layer = { type: "object", properties: { title: { type: "string" }, file: upload } };
  const known = { ...components, Layer: layer, Tree: { type: "object", properties: { next: { $ref: "#/x/Tree" } } } };
  const holds = (schema) => holdsFiles(schema, known);
  assert.ok(holds(layer));
  assert.ok(holds({ type: "array", items: { $ref: "#/components/schemas/Layer" } }));
  assert.ok(holds({ type: "array", items: { anyOf: [upload, { type: "null" }] } }));
  assert.ok(holds({ type: "object", additionalProperties: { type: "array", items: upload } }));
  assert.ok(holds({ type: "array", prefixItems: [{ type: "string" }, upload] }));
  assert.ok(!holds({ type: "object", additionalProperties: true }));
  assert.ok(!holds({ type: "array", items: { type: "string" } }));
  assert.ok(!holds({ $ref: "#/x/Tree" }));
  assert.ok(!holds({}));
});

test("null beside a type makes it optional and keeps its kind", () => {
  const field = readField("image", { anyOf: [upload, { type: "null" }], default: null }, false, components);
  assert.equal(field.kind, "file");
  assert.equal(field.nullable, true);
  const bounded = readField("x", { anyOf: [{ type: "number" }, { type: "null" }], minimum: 0, maximum: 2 }, false);
  assert.equal(bounded.kind, "slider");
  const choice = readField("x", { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] }, false);
  assert.deepEqual(choice.choices, ["a", "b"]);
});

test("a set_<field> command of one field is a control of the state, other commands are not", () => {
  const operation = (name, properties) => ({
    post: { operationId: name, requestBody: { content: { "application/json": { schema: { type: "object", properties } } } } },
  });
  const { commands, title } = readSchema({
    info: { title: "World" },
    paths: {
      "/events/set_speed": operation("set_speed", { speed: { type: "number" } }),
      "/events/set_pose": operation("set_pose", { x: { type: "number" }, y: { type: "number" } }),
      "/events/set_goal": operation("set_goal", { target: { type: "string" } }),
      "/events/reset": operation("reset", {}),
    },
  });
  assert.equal(title, "World");
  assert.deepEqual(commands.map(({ name, kind: is }) => [name, is]), [
    ["set_speed", "state"],
    ["set_pose", "form"],
    ["set_goal", "form"],
    ["reset", "button"],
  ]);
});

test("a document without anything is a model without commands", () => {
  assert.deepEqual(readSchema({}).commands, []);
});

test("a slider has at least a hundred positions of a round size", () => {
  assert.equal(sliderStep(0, 1), 0.01);
  assert.equal(sliderStep(0, 4), 0.02);
  assert.equal(sliderStep(-180, 180), 2);
  assert.equal(sliderStep(0, 1e-6), 1e-8);
  assert.equal(sliderStep(1, 1), 1);
});

test("names are read aloud", () => {
  assert.equal(humanName("set_movement_speed"), "Set movement speed");
  assert.equal(humanName("worldReset"), "World reset");
  assert.equal(humanName("x"), "X");
});

test("a value that does not fit is told where and why", () => {
  const path = { type: "array", items: { type: "array", items: { type: "number" } } };
  assert.equal(checkValue([[1, 2], []], path), "");
  assert.equal(checkValue([[1, "2"]], path), "[0][1] must be a number");
  assert.equal(checkValue({}, path), "The value must be a list");
  const point = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] };
  assert.equal(checkValue({}, point), "The value needs “x”");
  assert.equal(checkValue({ x: 1.5 }, point), "x must be a whole number");
  assert.equal(checkValue({ x: 1, y: 2 }, point), "The value has no field “y”");
  assert.equal(checkValue(null, { anyOf: [point, { type: "null" }] }), "");
  assert.equal(checkValue("c", { enum: ["a", "b"] }), 'The value must be one of "a", "b"');
  assert.equal(checkValue({ anything: [1] }, {}), "");
});
