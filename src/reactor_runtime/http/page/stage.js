// The pictures: one tile per video track, one of them large; the person's own camera in a corner.

import { h } from "./element.js";
import { humanName } from "./schema.js";

export class Stage extends EventTarget {
  #root;
  #overlay;
  #tiles = new Map();
  #self = h("div", { class: "self-views" });
  #main = null;

  /**
   * `overlay` is moved to the large picture, so that its buttons lie on it.
   * Events: "picture" ({name}) with the first picture of a track.
   */
  constructor(root, overlay) {
    super();
    this.#root = root;
    this.#overlay = overlay;
    this.#overlay.append(this.#self);
  }

  /** Make a tile for each output video track, keeping those that exist. */
  setTracks(names) {
    for (const [name, tile] of this.#tiles) {
      if (names.includes(name)) continue;
      tile.element.remove();
      this.#tiles.delete(name);
    }
    for (const name of names) if (!this.#tiles.has(name)) this.#tiles.set(name, this.#makeTile(name));
    this.#root.classList.toggle("is-many", names.length > 1);
    this.#root.style.setProperty("--others", Math.max(1, names.length - 1));
    if (!this.#tiles.has(this.#main)) this.#choose(names[0] ?? null);
  }

  #makeTile(name) {
    const video = h("video", { autoplay: true, playsinline: true, "aria-label": humanName(name), "data-track": name });
    video.muted = true; // sound has elements of its own
    const caption = h("button", { type: "button", class: "caption", onclick: () => this.#choose(name) }, humanName(name));
    const still = h("canvas", { class: "still", "aria-hidden": "true" });
    const frame = h("div", { class: "frame" }, still, video, caption);
    const element = h("figure", { class: "tile", "data-track": name }, frame);
    element.addEventListener("click", () => this.#choose(name));
    video.addEventListener("resize", () => {
      if (video.videoWidth > 0) element.style.setProperty("--ratio", video.videoWidth / video.videoHeight);
    });
    this.#root.append(element);
    return { element, video, still };
  }

  #choose(name) {
    this.#main = name;
    let place = 2; // the first and the last column only fill the row
    for (const [track, { element }] of this.#tiles) {
      element.classList.toggle("is-main", track === name);
      element.style.gridColumn = track === name || this.#tiles.size === 1 ? "" : String(place++);
    }
    const frame = this.#tiles.get(name)?.element.querySelector(".frame") ?? this.#root.parentElement;
    if (this.#overlay.parentElement === frame) return;
    frame.append(this.#overlay);
    for (const video of this.#self.querySelectorAll("video")) video.play().catch(() => {}); // moving stops it
  }

  /** Show a new connection's track in its tile. */
  attach(name, track) {
    const tile = this.#tiles.get(name);
    if (!tile) return;
    tile.video.srcObject = new MediaStream([track]);
    tile.video.play().catch(() => {}); // the browser refuses only while the page is in the background
    const shown = () => {
      tile.element.classList.add("has-picture");
      this.dispatchEvent(new CustomEvent("picture", { detail: { name } }));
    };
    tile.video.addEventListener("loadeddata", shown, { once: true });
  }

  /** The connection is gone: keep its last pictures in sight, faintly. */
  freeze() {
    for (const { element, video, still } of this.#tiles.values()) {
      if (!element.classList.contains("has-picture")) continue;
      still.width = video.videoWidth;
      still.height = video.videoHeight;
      still.getContext("2d").drawImage(video, 0, 0);
      element.classList.remove("has-picture");
    }
  }

  /** Whether the large picture has begun on this connection. */
  get hasPicture() {
    return this.#tiles.get(this.#main)?.element.classList.contains("has-picture") ?? false;
  }

  get hasVideo() {
    return this.#tiles.size > 0;
  }

  /** Show what this page sends into input `name`; null takes it away. */
  showSelf(name, media) {
    this.#self.querySelector(`[data-self="${CSS.escape(name)}"]`)?.remove();
    if (!media) return;
    const video = h("video", { autoplay: true, playsinline: true, "data-self": name, "aria-label": `Your ${humanName(name).toLowerCase()}` });
    video.muted = true;
    video.srcObject = new MediaStream([media]);
    this.#self.append(video);
  }
}
