// Where the map is looked at from. Follows the token until a person moves it.

const MARGIN = 40;
const SCALE = { least: 0.15, most: 2.2, follow: 1 };
const TOKEN_AT = 0.4; // of the width, so that more of the way ahead is seen than behind
const BEYOND = 220; // drawn past the edges, so that moving shows no holes
const TOP = 26; // the names of the bands stand here
const FOOT = 32; // and the buttons there

export class Camera {
  constructor(svg, world, onMove) {
    Object.assign(this, { svg, world, onMove, following: true, x: 0, y: 0, k: 1, width: 800, height: 320 });
    this.toScreen = (x) => (x - this.x) * this.k + this.width / 2;
    new ResizeObserver(() => this.sized()).observe(svg);
    svg.addEventListener("pointerdown", (event) => this.grab(event));
    svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  look(bounds, token, moved) {
    const first = !this.bounds;
    this.bounds = bounds;
    this.token = token;
    if (this.following && (moved || first)) this.follow();
    else this.apply();
  }

  follow() {
    this.following = true;
    if (!this.bounds) return;
    const { x1, x2, y1, y2 } = this.bounds;
    const fits = Math.min((this.height - TOP - FOOT) / (y2 - y1), 1.15);
    this.k = Math.max(0.72, Math.min(SCALE.follow, fits));
    const half = this.width / 2 / this.k;
    const wanted = this.token[0] + (0.5 - TOKEN_AT) * 2 * half;
    this.x = x2 - x1 <= 2 * half ? (x1 + x2) / 2 : Math.min(Math.max(wanted, x1 + half), x2 - half);
    const high = (this.height - TOP - FOOT) / 2 / this.k;
    this.y = y2 - y1 <= 2 * high ? (y1 + y2) / 2 : Math.min(Math.max(this.token[1], y1 + high), y2 - high);
    this.apply();
  }

  whole() {
    this.following = false;
    const { x1, x2, y1, y2 } = this.bounds;
    this.k = Math.min(1.4, this.width / (x2 - x1), (this.height - TOP - FOOT) / (y2 - y1));
    this.x = (x1 + x2) / 2;
    this.y = (y1 + y2) / 2;
    this.apply();
  }

  zoom(by) {
    this.following = false;
    this.k = Math.min(SCALE.most, Math.max(SCALE.least, this.k * by));
    this.apply();
  }

  /** Just enough that this spot is seen. */
  reveal([x, y]) {
    const [across, down] = [(this.width / 2 - MARGIN - 60) / this.k, ((this.height - TOP - FOOT) / 2 - MARGIN) / this.k];
    const [dx, dy] = [x - this.x, y - this.y];
    if (Math.abs(dx) > across) this.x = x - Math.sign(dx) * across;
    if (Math.abs(dy) > down) this.y = y - Math.sign(dy) * down;
    this.apply();
  }

  /** Whether something that reaches from x1 to x2 and y1 to y2 (world units) is on the screen. */
  sees(x1, x2, y1, y2, beyond = BEYOND) {
    const [across, down] = [this.width / 2 / this.k + beyond, this.height / 2 / this.k + beyond];
    return x1 <= this.x + across && x2 >= this.x - across && y1 <= this.y + down && y2 >= this.y - down;
  }

  apply() {
    const move = `translate(${this.width / 2}px, ${(this.height + TOP - FOOT) / 2}px) scale(${this.k}) translate(${-this.x}px, ${-this.y}px)`;
    this.world.style.transform = move;
    this.onMove();
  }

  sized() {
    const { width, height } = this.svg.getBoundingClientRect();
    if (!width || !height) return;
    Object.assign(this, { width, height });
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    if (this.bounds && this.following) this.follow();
    else this.apply();
  }

  grab(event) {
    if (event.button !== 0 || event.target.closest(".node")) return;
    const [x, y, from] = [event.clientX, event.clientY, { x: this.x, y: this.y }];
    this.svg.setPointerCapture(event.pointerId);
    const move = (to) => {
      this.following = false;
      this.x = from.x - (to.clientX - x) / this.k;
      this.y = from.y - (to.clientY - y) / this.k;
      this.world.classList.add("is-held");
      this.apply();
    };
    const end = () => {
      this.svg.removeEventListener("pointermove", move);
      this.world.classList.remove("is-held");
    };
    this.svg.addEventListener("pointermove", move);
    this.svg.addEventListener("pointerup", end, { once: true });
    this.svg.addEventListener("pointercancel", end, { once: true });
  }

  wheel(event) {
    if (event.ctrlKey) this.zoom(event.deltaY < 0 ? 1.1 : 1 / 1.1);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.following = false;
      this.x += event.deltaX / this.k;
      this.apply();
    } else return;
    event.preventDefault();
  }
}
