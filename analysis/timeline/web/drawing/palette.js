/* Colours, read from the style sheet so that canvas and legend agree. */

import { CLASSES } from "../data/calls.js";
import { HOST_KINDS } from "../data/host.js";

const DARK_INK = [16, 22, 29];
// Of ribbons by tone: as drawn, and where one is pointed at or lit.
const OPACITY = {
  replaced: { base: 0.2, strong: 0.5 },
  kept: { base: 0.13, strong: 0.38 },
  hurts: { base: 0.62, strong: 0.85 },
};
export const DIMMED = 0.4; // opacity of what is not lit
export const WAITING = 0.4; // of the part of a collective in which it waits
const LIGHT_INK = [255, 255, 255];
export const pixel = document.createElement("canvas").getContext("2d", {
  willReadFrequently: true,
});

/* Any CSS colour as [red, green, blue]. */
function rgb(colour) {
  pixel.clearRect(0, 0, 1, 1);
  pixel.fillStyle = "gray"; // stays where the browser does not understand `colour`
  pixel.fillStyle = colour;
  pixel.fillRect(0, 0, 1, 1);
  return Array.from(pixel.getImageData(0, 0, 1, 1).data.slice(0, 3));
}

const css = (parts, alpha = 1) => `rgba(${parts.map(Math.round).join(", ")}, ${alpha})`;

/* Relative luminance and contrast, WCAG 2. */
function luminance(parts) {
  const [red, green, blue] = parts.map((part) => {
    const value = part / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/* A darker fill on a light page, a lighter one on a dark page: enough for an outline of 3 : 1. */
function outline(fill, background) {
  const far = luminance(background) > 0.4 ? 0 : 255;
  for (let mix = 0.1; mix < 1; mix += 0.1) {
    const edge = fill.map((part) => part + (far - part) * mix);
    if (contrast(edge, background) >= 3.2) return edge;
  }
  return [far, far, far];
}

export function readPalette(root) {
  const style = getComputedStyle(root);
  const read = (name) => rgb(style.getPropertyValue(`--fst-${name}`).trim());
  const text = read("text");
  const background = read("background");
  const box = (name) => {
    const fill = read(name);
    return {
      fill: css(fill),
      edge: contrast(fill, background) >= 3 ? null : css(outline(fill, background)),
      ink: css(contrast(fill, DARK_INK) > contrast(fill, LIGHT_INK) ? DARK_INK : LIGHT_INK),
    };
  };
  const classes = Object.fromEntries(CLASSES.map((name) => [name, box(name)]));
  const tones = {};
  const more = luminance(background) > 0.4 ? 0 : 0.08; // the same alpha is weaker on dark
  for (const [tone, { base, strong }] of Object.entries(OPACITY)) {
    const fill = base + more;
    const colour = read(tone);
    tones[tone] = {
      fill: css(colour, fill),
      strong: css(colour, strong),
      edge: css(colour, strong),
    };
  }
  const sideColour = (id) => css(rgb(style.getPropertyValue(`--mark-${id}`).trim()));
  return {
    classes,
    host: HOST_KINDS.map((kind) => box(`host-${kind}`)),
    sides: { baseline: sideColour("baseline"), candidate: sideColour("candidate") },
    tones,
    accent: css(read("accent")),
    marked: css(read("accent"), 0.2),
    text: css(text),
    muted: css(text, 0.72),
    thumb: css(text, 0.4),
    tick: css(text, 0.3),
    track: css(text, 0.09),
    background: css(background),
    family: style.fontFamily,
  };
}
