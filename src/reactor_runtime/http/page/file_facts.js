// What a file is called and taken for, where the browser does not know.

export function nameOf(file) {
  return file.name || "file";
}

export function typeOf(file) {
  return file.type || "application/octet-stream";
}
