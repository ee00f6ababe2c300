/* Ribbons between the lanes of two sides: drawing them, and finding the one under the pointer.
   `frame` is {xOf, left, right, top, bottom}: where the band between the lanes is. */

import { toneOf } from "../data/modes.js";
import { DIMMED } from "./palette.js";
import { litGroup } from "../data/selection.js";

const FAR = 20000; // px beside the band where an end may as well stop
const DUST = 1; // px: ribbons narrower than this at both ends lose their own outline
const MOST_DUST = 8000; // ribbons of dust that are drawn: of more, every second, third, … for all
const DUST_ROW = 2; // px
const MOST_OUTLINED = 24; // ribbons of the lit group that have an outline each
const EDGE_FROM = 5; // px: ribbons this wide are kept apart from their neighbours by a line

/* x of a ribbon's corners: upper left and right, lower left and right. */
/** @returns {[number, number, number, number]} */
function edgesOf({ top, bottom }, { xOf, left, right }) {
  const x = (ns, side) => Math.min(right + FAR, Math.max(left - FAR, xOf(ns, side)));
  return [x(top[0], 0), x(top[1], 0), x(bottom[0], 1), x(bottom[1], 1)];
}

const inBand = ([a, b, c, d], { left, right }) =>
  (b >= left || d >= left) && (a <= right || c <= right);
const isDust = ([a, b, c, d]) => b - a < DUST && d - c < DUST;

function tracePath(pen, [a, b, c, d], { top, bottom }) {
  const middle = (top + bottom) / 2;
  pen.moveTo(a, top);
  pen.bezierCurveTo(a, middle, c, middle, c, bottom);
  pen.lineTo(d, bottom);
  pen.bezierCurveTo(d, middle, b, middle, b, top);
  pen.closePath();
}

/* How far an edge has come from its upper to its lower end, at the part `down` of the height. */
function bendAt(down) {
  let low = 0;
  let high = 1;
  for (let i = 0; i < 24; i++) {
    const s = (low + high) / 2;
    if (1.5 * s - 1.5 * s * s + s * s * s < down) low = s; // the curve of tracePath
    else high = s;
  }
  return low * low * (3 - 2 * low);
}

/* Runs `draw` where nothing can get out of the band. */
export function inside(pen, frame, draw) {
  pen.save();
  pen.beginPath();
  pen.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top);
  pen.clip();
  draw();
  pen.restore();
}

const dustCanvas = document.createElement("canvas");

/* Ribbons too thin and too many for a path each, added up where they begin and end on the same
   pixels, as corners: of those that follow each other, as they come in the order of their upper
   ends. */
function createDust() {
  const corners = [];
  let [above, below] = [NaN, NaN]; // the pixels of the last ones
  return {
    corners,
    add([a, b, c, d]) {
      const [first, second] = [Math.round((a + b) / 2), Math.round((c + d) / 2)];
      if (first === above && second === below) {
        corners[corners.length - 3] += b - a;
        corners[corners.length - 1] += d - c;
        return;
      }
      [above, below] = [first, second];
      corners.push(a, b, c, d);
    },
  };
}

/* How much of every pixel they cover together, in one colour. The cost is a few operations a ribbon
   and row, however they cross; a row is DUST_ROW px high. */
function drawDust(pen, corners, colour, frame) {
  if (corners.length === 0) return;
  const every = 4 * Math.ceil(corners.length / 4 / MOST_DUST);
  const width = Math.max(1, Math.ceil(frame.right - frame.left));
  const height = Math.max(1, Math.ceil((frame.bottom - frame.top) / DUST_ROW));
  const dust = dustCanvas.getContext("2d");
  if (dustCanvas.width !== width || dustCanvas.height !== height) {
    Object.assign(dustCanvas, { width, height });
  }
  const image = dust.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer); // of the canvas: alpha is the highest byte
  const [red, green, blue, alpha] = rgba(colour);
  const tint = (blue << 16) | (green << 8) | red;
  const steps = new Float32Array(width + 2); // of the covered share, from pixel to pixel
  const weight = every / 4;
  for (let y = 0; y < height; y++) {
    const bend = bendAt((y + 0.5) / height);
    steps.fill(0);
    for (let i = 0; i < corners.length; i += every) {
      for (let edge = 0; edge < 2; edge++) {
        const from = corners[i + edge];
        const x = from + (corners[i + edge + 2] - from) * bend - frame.left;
        const at = x < 0 ? 0 : x > width ? width : x;
        const pixel = at | 0;
        const by = edge === 0 ? weight : -weight;
        steps[pixel] += by * (1 - (at - pixel));
        steps[pixel + 1] += by * (at - pixel);
      }
    }
    let covered = 0;
    for (let x = 0, at = y * width; x < width; x++, at++) {
      covered += steps[x];
      if (covered > 0.002) {
        pixels[at] = ((255 * alpha * (covered < 1 ? covered : 1)) << 24) | tint;
      }
    }
  }
  dust.putImageData(image, 0, 0);
  pen.drawImage(dustCanvas, frame.left, frame.top, width, frame.bottom - frame.top);
}

/* The parts of a colour of the palette, "rgba(…)". */
const rgba = (colour) => colour.match(/[\d.]+/g).map(Number);

function fillEach(pen, ribbons, colour, frame) {
  pen.fillStyle = colour;
  for (const edges of ribbons) { // one path for all would cost far more: curves cross
    pen.beginPath();
    tracePath(pen, edges, frame);
    pen.fill();
  }
}

/* Also around each, so that one as thin as a hair is a line however it leans. */
function drawBold(pen, ribbons, fill, line, frame) {
  fillEach(pen, ribbons, fill, frame);
  pen.strokeStyle = line;
  pen.lineWidth = 1;
  for (const edges of ribbons) {
    pen.beginPath();
    tracePath(pen, edges, frame);
    pen.stroke();
  }
}

/* The ribbons of one group: each with its outline, or of many only what they cover together, since
   outlines of many hide all that is below them. */
function drawLit(pen, ribbons, fill, line, frame) {
  if (ribbons.length <= MOST_OUTLINED) {
    drawBold(pen, ribbons, fill, line, frame);
    return;
  }
  const dust = createDust();
  const wide = [];
  for (const edges of ribbons) isDust(edges) ? dust.add(edges) : wide.push(edges);
  drawDust(pen, dust.corners, fill, frame);
  fillEach(pen, wide, fill, frame);
}

/* Lines in the page's colour along the right edges of wide ribbons. */
function drawSeams(pen, ribbons, colour, { top, bottom }) {
  const middle = (top + bottom) / 2;
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  for (const [a, b, c, d] of ribbons) {
    if (Math.max(b - a, d - c) < EDGE_FROM) continue;
    pen.moveTo(b, top);
    pen.bezierCurveTo(b, middle, d, middle, d, bottom);
  }
  pen.stroke();
}

/* All ribbons: dust in a neutral colour below, then kept, replaced, and what hurts; the lit group
   on top and the others dimmed. */
export function drawRibbons(pen, view, frame) {
  const { tones, background, text } = view.palette;
  const group = litGroup(view);
  const shapes = { kept: [], replaced: [], hurts: [] };
  const dust = createDust();
  const lit = [];
  const seen = new Set(); // places of thin ribbons that hurt: one a pixel will do
  for (const ribbon of view.ribbons) {
    const edges = edgesOf(ribbon, frame);
    if (!inBand(edges, frame)) continue;
    const { tone } = ribbon;
    if (ribbon.group === group) lit.push(edges);
    else if (!isDust(edges)) shapes[tone].push(edges);
    else if (tone !== "hurts") dust.add(edges);
    else {
      const place = `${Math.round(edges[0])} ${Math.round(edges[2])}`;
      if (!seen.has(place)) shapes.hurts.push(edges);
      seen.add(place);
    }
  }
  inside(pen, frame, () => {
    pen.globalAlpha = group !== null && view.ribbons.some((ribbon) => ribbon.group === group)
      ? DIMMED
      : 1;
    drawDust(pen, dust.corners, tones.kept.fill, frame);
    fillEach(pen, shapes.kept, tones.kept.fill, frame);
    fillEach(pen, shapes.replaced, tones.replaced.fill, frame);
    drawSeams(pen, [...shapes.kept, ...shapes.replaced], background, frame);
    drawBold(pen, shapes.hurts, tones.hurts.fill, tones.hurts.fill, frame);
    pen.globalAlpha = 1;
    drawLit(pen, lit, tones[toneOf(view.groups.get(group))].strong, text, frame);
  });
}

/* The ribbons of one group, on top of the others. */
export function drawRibbonsOf(pen, view, frame, group) {
  const own = view.ribbons.filter((ribbon) => ribbon.group === group)
    .map((ribbon) => edgesOf(ribbon, frame)).filter((edges) => inBand(edges, frame));
  const { strong } = view.palette.tones[toneOf(view.groups.get(group))];
  inside(pen, frame, () => drawLit(pen, own, strong, strong, frame));
}

/* The group whose ribbon lies under a point of the band, or null: of several the narrowest, since
   nobody could point at it otherwise; one that hurts before all. */
export function ribbonAt(view, frame, x, y, reach) {
  if (y < frame.top || y > frame.bottom || x < frame.left || x > frame.right) return null;
  const bend = bendAt((y - frame.top) / (frame.bottom - frame.top));
  let found = null;
  let best = Infinity;
  for (const ribbon of view.ribbons) {
    const [a, b, c, d] = edgesOf(ribbon, frame);
    const [start, end] = [a + (c - a) * bend, b + (d - b) * bend];
    const away = Math.max(0, start - x, x - end);
    if (away > (end - start < reach ? reach : 0)) continue;
    const rank = end - start + 1000 * away + (view.groups.get(ribbon.group)?.hurts ? 0 : 1e6);
    if (rank < best) {
      best = rank;
      found = ribbon.group;
    }
  }
  return found;
}

/* Where groups are aligned: what one side has less than the other, as a tint behind its lanes. */
export function drawGaps(pen, view, sideIndex, xOf, top, height) {
  let reached = -Infinity;
  for (const { tone, top: before, bottom: after } of view.ribbons) {
    const lengths = [before[1] - before[0], after[1] - after[0]];
    if (lengths[sideIndex] >= lengths[1 - sideIndex]) continue;
    const own = (sideIndex === 0 ? before : after)[1];
    const left = Math.max(xOf(own), reached);
    const right = xOf(own + lengths[1 - sideIndex] - lengths[sideIndex]);
    if (right - left < 0.5 || right < 0 || left > view.width) continue;
    reached = right;
    const shown = (tone === "hurts") === (sideIndex === 0) ? tone : "kept"; // a loss stands out, a gain does not
    pen.fillStyle = view.palette.tones[shown].fill;
    pen.fillRect(left, top, right - left, height);
  }
}
