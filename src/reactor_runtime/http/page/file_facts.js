// What a file is called and taken for, where the browser does not know, and how large it is in words.

export function nameOf(file) {
  return file.name || "file";
}

export function typeOf(file) {
  return file.type || "application/octet-stream";
}

export function sizeWords(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}
