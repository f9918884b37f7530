// A small live line over the last minute.

const POINTS = 60;

export class Plot {
  #canvas;
  #values = [];
  #floor;

  /** `floor` is the least height of the scale, so that noise near nothing stays flat. */
  constructor(canvas, floor) {
    this.#canvas = canvas;
    this.#floor = floor;
  }

  push(value) {
    this.#values.push(value);
    if (this.#values.length > POINTS) this.#values.shift();
    this.draw();
  }

  clear() {
    this.#values = [];
    this.draw();
  }

  draw() {
    const canvas = this.#canvas;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (width === 0) return;
    const scale = globalThis.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const style = getComputedStyle(canvas);
    const top = Math.max(this.#floor, ...this.#values.filter((value) => value !== null));
    const x = (index) => width - (this.#values.length - 1 - index) * (width / (POINTS - 1));
    const y = (value) => height - 1.5 - (value / top) * (height - 4);
    this.#stroke(context, x, y);
    context.lineWidth = 1.5;
    context.lineJoin = "round";
    context.strokeStyle = style.color;
    context.stroke();
    if (this.#values.length < 2) return;
    context.lineTo(width, height);
    context.lineTo(x(0), height);
    context.closePath();
    context.globalAlpha = 0.12;
    context.fillStyle = style.color;
    context.fill();
  }

  #stroke(context, x, y) {
    context.beginPath();
    for (const [index, value] of this.#values.entries()) {
      if (index === 0) context.moveTo(x(index), y(value ?? 0));
      else context.lineTo(x(index), y(value ?? 0));
    }
  }
}
